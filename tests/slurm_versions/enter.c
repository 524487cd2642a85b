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
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";
	int known = getcwd(here, sizeof here) != NULL;

	if (chroot(ROOT) != 0) {
		perror(ROOT);
		return 126;
	}
	if ((!known || chdir(here) != 0) && chdir("/") != 0) {
		perror("/");
		return 126;
	}
	for (unsigned i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		if (snprintf(path, sizeof path, "%s%s", folders[i], name) < (int) sizeof path)
			execv(path, argv);
	}
	perror(name);
	return 127;
}
