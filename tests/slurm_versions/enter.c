/*
 * Runs the program of its own name from the root folder that was given when this was compiled.
 *
 * It has the capability for chroot, since tests ask Slurm as other users, too; the folder belongs to
 * root and cannot be chosen. Unlike chroot(1) it stays in the current folder where there is one.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const folders[] = {"/usr/sbin/", "/usr/bin/"};

int main(int argc, char **argv)
{
	char here[PATH_MAX], path[PATH_MAX];
	const char *slash, *name;
	int known = getcwd(here, sizeof here) != NULL;

	if (argc < 1)
		return 127;
	slash = strrchr(argv[0], '/');
	name = slash ? slash + 1 : argv[0];
	if (chroot(ROOT) != 0) {
		perror(ROOT);
		return 126;
	}
	if ((!known || chdir(here) != 0) && chdir("/") != 0) {
		perror("/");
		return 126;
	}
	for (unsigned i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		if (snprintf(path, sizeof path, "%s%s", folders[i], name) >= (int) sizeof path)
			continue;
		/* slurmctld executes itself again, by the name that it was given. */
		argv[0] = path;
		execv(path, argv);
	}
	perror(path);
	return 127;
}
