/*
 * site_factor/dovetail: gives waiting jobs the site factors of a table that a daemon writes.
 *
 * slurmctld calls site_factor_p_set when a job is submitted or released and site_factor_p_update
 * every PriorityCalcPeriod, both with its own job lock held. Neither touches a file: a thread reads
 * the table once a second into memory of its own and swaps two pointers under the lock. All
 * memory is static. No message is sent anywhere.
 *
 * A factor is ours to change if it is 0 or if a table gave it. Anything else was set by an operator
 * or a submit script and stays. Without a sound and fresh table our factors go back to 0.
 */
#define _GNU_SOURCE
#include "src/common/slurm_xlator.h"

#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/common/list.h"
#include "src/common/log.h"
#include "src/slurmctld/slurmctld.h"

#include "factor_table.h"

const char plugin_name[] = "Dovetail's site factors";
const char plugin_type[] = "site_factor/dovetail";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

#define DEFAULT_PATH "/run/dovetail/factors"

/* slurmctld's loader wants an int of fini up to 25.11. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
#define FINI_TYPE void
#define FINI_RETURN
#else
#define FINI_TYPE int
#define FINI_RETURN return SLURM_SUCCESS
#endif

static struct table memory[3];
static struct table *const applied = &memory[0]; /* what the last update gave */
static struct table *fresh = &memory[1];         /* the latest that was read */
static struct table *spare = &memory[2];         /* the thread's own, while it reads */

/* Guards `applied`, `fresh`, `path`, `owner` and `ending`; never held on I/O. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t end = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static bool running;
static bool ending;
static char path[4096];
static uid_t owner;

/* The number of an account; root's where there is none of that name. */
static uid_t _account(const char *name)
{
	char buffer[4096];
	struct passwd entry, *found = NULL;

	if (getpwnam_r(name, &entry, buffer, sizeof(buffer), &found) || !found) {
		error("%s: no account %s; only root's tables count", plugin_type, name);
		return 0;
	}
	return found->pw_uid;
}

/* PrioritySiteFactorParameters=table=/run/dovetail/factors,owner=dovetail */
static void _configure(void)
{
	char text[4096], *rest = NULL;
	const char *from = DEFAULT_PATH, *params = slurm_conf.site_factor_params;
	uid_t whose = 0;

	snprintf(text, sizeof(text), "%s", params ? params : "");
	for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		if (!strncmp(word, "table=", 6))
			from = word + 6;
		else if (!strncmp(word, "owner=", 6))
			whose = _account(word + 6);
		else
			error("%s: unknown parameter %s", plugin_type, word);
	}
	pthread_mutex_lock(&lock);
	snprintf(path, sizeof(path), "%s", from);
	owner = whose;
	pthread_mutex_unlock(&lock);
}

/* Read the table and make it the fresh one; a table that is not sound is an empty one. */
static void _load(void)
{
	static const char *said = "";
	char from[sizeof(path)];
	const char *problem;
	struct table *ready;
	uid_t whose;

	pthread_mutex_lock(&lock);
	memcpy(from, path, sizeof(from));
	whose = owner;
	pthread_mutex_unlock(&lock);

	problem = table_read(spare, from, whose, (int64_t) time(NULL));
	if (problem != said) {
		if (problem)
			info("%s: factor 0 for all jobs: %s: %s", plugin_type, from, problem);
		else
			info("%s: %s is in use", plugin_type, from);
		said = problem;
	}

	pthread_mutex_lock(&lock);
	ready = spare;
	spare = fresh;
	fresh = ready;
	pthread_mutex_unlock(&lock);
}

static void *_read_tables(void *nothing)
{
	struct timespec until;

	(void) nothing;
	pthread_mutex_lock(&lock);
	while (!ending) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += 1;
		pthread_cond_timedwait(&end, &lock, &until);
		if (ending)
			break;
		pthread_mutex_unlock(&lock);
		_load();
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

extern int init(void)
{
	_configure();
	_load();
	/* After a restart it tells which factors of recovered jobs are ours, the next one or not. */
	table_copy(applied, fresh);
	ending = false;
	running = !pthread_create(&thread, NULL, _read_tables, NULL);
	if (!running) {
		error("%s: no thread, so no factors", plugin_type);
		table_clear(fresh);
	}
	return SLURM_SUCCESS;
}

extern FINI_TYPE fini(void)
{
	pthread_mutex_lock(&lock);
	ending = true;
	pthread_cond_signal(&end);
	pthread_mutex_unlock(&lock);
	if (running)
		pthread_join(thread, NULL);
	running = false;
	FINI_RETURN;
}

extern void site_factor_p_reconfig(void)
{
	_configure();
}

/* `lock` is held. `new`: the job may get the table's default. */
static void _give(job_record_t *job_ptr, bool new, int64_t now)
{
	int64_t without, factor = 0;
	struct table_job job = {
		.job = job_ptr->job_id,
		.array = job_ptr->array_job_id,
		.current = (int64_t) job_ptr->site_factor - NICE_OFFSET,
	};

	if (job_ptr->direct_set_prio)
		return; /* an operator has set its priority */
	if (job.current && !table_gave(fresh, &job) && !table_gave(applied, &job))
		return; /* somebody else has set its factor */
	without = fresh->head.default_factor;
	if (!new && job.current != without)
		without = 0;
	/* A job that runs takes no factor along should it be requeued. */
	if (IS_JOB_PENDING(job_ptr))
		factor = table_factor(fresh, &job, now, without);
	job_ptr->site_factor = (uint32_t) (factor + NICE_OFFSET);
}

extern void site_factor_p_set(job_record_t *job_ptr)
{
	pthread_mutex_lock(&lock);
	_give(job_ptr, true, (int64_t) time(NULL));
	pthread_mutex_unlock(&lock);
}

static int _update_one(void *job_ptr, void *now)
{
	_give(job_ptr, false, *(int64_t *) now);
	return 0;
}

extern void site_factor_p_update(void)
{
	int64_t now = (int64_t) time(NULL);

	pthread_mutex_lock(&lock);
	list_for_each(job_list, _update_one, &now);
	/* What was given just now explains factors at the next update. */
	table_copy(applied, fresh);
	pthread_mutex_unlock(&lock);
}
