// SPDX-License-Identifier: GPL-2.0-only
/* Run a command without one capability, as root in a container is: without-cap NUMBER COMMAND... */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	/* What the bounding set lacks, exec does not give, not even to root. */
	if (prctl(PR_CAPBSET_DROP, strtoul(argv[1], NULL, 10), 0, 0, 0)) {
		perror("PR_CAPBSET_DROP");
		return 99;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
