/*
 * Runs the plug-in's reader outside slurmctld, for sanitizers and fuzzed tables.
 *
 * harness PATH OWNER NOW, then lines "JOB ARRAY CURRENT WITHOUT" on stdin; prints the problem or
 * "sound", and for each line whether the table gave the current factor, and the factor it gives.
 * "load PATH" on a line reads a table in its place, and prints what became of that.
 */
#include "factor_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct table table;

int main(int argc, char **argv)
{
	char line[4096];

	if (argc != 4)
		return 2;
	uid_t owner = (uid_t) strtoul(argv[2], NULL, 10);
	int64_t now = strtoll(argv[3], NULL, 10);
	const char *problem = table_read(&table, argv[1], owner, now);

	puts(problem ? problem : "sound");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		struct table_job job;
		int64_t without;

		if (!strncmp(line, "load ", 5)) {
			line[strcspn(line, "\n")] = 0;
			problem = table_read(&table, line + 5, owner, now);
			puts(problem ? problem : "sound");
		} else if (sscanf(line, "%" SCNu32 " %" SCNu32 " %" SCNd64 " %" SCNd64, &job.job,
				  &job.array, &job.current, &without) == 4) {
			printf("%d %" PRId64 "\n", table_gave(&table, &job),
			       table_factor(&table, &job, now, without));
		}
		fflush(stdout);
	}
	return 0;
}
