/*
 * The table of site factors that Dovetail's daemon writes: read whole, checked whole, looked up.
 *
 * Nothing here knows Slurm, so that a test can run it under sanitizers. Nothing allocates.
 */
#ifndef DOVETAIL_FACTOR_TABLE_H
#define DOVETAIL_FACTOR_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TABLE_MAGIC "DOVETAIL"
#define TABLE_VERSION 1
#define TABLE_MOST_ROWS 131072       /* 2 MiB: more waiting jobs than Slurm keeps by default */
#define TABLE_MOST_FACTOR 2147483645 /* Slurm's own limit for SiteFactor, either sign */
#define TABLE_MOST_SECONDS 86400     /* a table that claims to hold longer is not believed */
#define TABLE_CLOCK_ERROR 60         /* seconds that the writer's clock may be ahead */

/* As in the file: little-endian, no padding. */
struct table_header {
	char magic[8];
	uint32_t version;
	uint32_t rows;
	int64_t written;        /* seconds since 1970 */
	uint32_t seconds;       /* for which the table holds from then on */
	int32_t default_factor; /* of new jobs that have no row */
	uint32_t reserved;      /* 0 */
	uint32_t checksum;      /* CRC-32 of all bytes before it and after it */
};

struct table_row {
	uint32_t job;     /* rows rise by it, none twice */
	int32_t factor;   /* that the job shall have */
	int32_t held;     /* that it has of us by the daemon's ledger; 0: nothing */
	uint32_t seconds; /* for which the row holds from `written` on */
};

struct table {
	struct table_header head;
	struct table_row rows[TABLE_MOST_ROWS];
};

/* A job as far as the table is concerned. */
struct table_job {
	uint32_t job;
	uint32_t array;  /* number of the array that it belongs to; 0: none */
	int64_t current; /* the factor that it has */
};

/* Not for slurmctld's eyes, nor its own functions of the same names for ours. */
#pragma GCC visibility push(hidden)

/* Make a table say nothing: factor 0 for everybody. */
void table_clear(struct table *table);

void table_copy(struct table *to, const struct table *from);

/*
 * Read the file at path, which must belong to root, to the account that runs this, or to owner.
 * NULL: it is in `table`. Otherwise the reason why not, and the table is clear.
 */
const char *table_read(struct table *table, const char *path, uid_t owner, int64_t now);

/* Whether the job's factor was given to it by this table, expired or not. */
bool table_gave(const struct table *table, const struct table_job *job);

/* The factor for a job; 0 once the table or its row has expired. A job without a row: `without`. */
int64_t table_factor(const struct table *table, const struct table_job *job, int64_t now,
		     int64_t without);

#pragma GCC visibility pop

#endif
