/* Reading and looking up; see factor_table.h. */
#include "factor_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(struct table_header) == 40, "the header is 40 bytes in the file");
_Static_assert(sizeof(struct table_row) == 16, "a row is 16 bytes in the file");
_Static_assert(offsetof(struct table, rows) == 40, "rows follow the header");

void table_clear(struct table *table)
{
	memset(&table->head, 0, sizeof(table->head));
}

void table_copy(struct table *to, const struct table *from)
{
	memcpy(to, from, sizeof(from->head) + from->head.rows * sizeof(from->rows[0]));
}

/* CRC-32 as in zlib, four bits at a time. */
static uint32_t crc32_of(uint32_t crc, const unsigned char *bytes, size_t count)
{
	static const uint32_t part[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};

	crc = ~crc;
	for (size_t i = 0; i < count; i++) {
		crc ^= bytes[i];
		crc = (crc >> 4) ^ part[crc & 15];
		crc = (crc >> 4) ^ part[crc & 15];
	}
	return ~crc;
}

static const char *check_file(const struct stat *file, uid_t owner)
{
	if (!S_ISREG(file->st_mode))
		return "it is no plain file";
	if (file->st_uid != 0 && file->st_uid != geteuid() && file->st_uid != owner)
		return "it belongs to somebody else";
	if (file->st_mode & (S_IWGRP | S_IWOTH))
		return "others may write it";
	if (file->st_size < (off_t) sizeof(struct table_header))
		return "it is too short";
	if (file->st_size > (off_t) sizeof(struct table))
		return "it is too long";
	return NULL;
}

static bool in_range(int32_t factor)
{
	return factor >= -TABLE_MOST_FACTOR && factor <= TABLE_MOST_FACTOR;
}

static const char *check_content(const struct table *table, size_t size, int64_t now)
{
	const struct table_header *head = &table->head;
	const unsigned char *bytes = (const unsigned char *) table;
	uint32_t crc;

	if (memcmp(head->magic, TABLE_MAGIC, sizeof(head->magic)))
		return "it is no table of Dovetail's";
	if (head->version != TABLE_VERSION || head->reserved)
		return "it is of another version";
	if (head->rows > TABLE_MOST_ROWS ||
	    size != sizeof(*head) + head->rows * sizeof(struct table_row))
		return "its size does not fit its rows";
	crc = crc32_of(0, bytes, offsetof(struct table_header, checksum));
	crc = crc32_of(crc, bytes + sizeof(*head), size - sizeof(*head));
	if (crc != head->checksum)
		return "its checksum is wrong";
	if (head->seconds > TABLE_MOST_SECONDS || head->written < 0 ||
	    head->written > now + TABLE_CLOCK_ERROR)
		return "its time is not plausible";
	if (!in_range(head->default_factor))
		return "its default is out of range";
	for (uint32_t i = 0; i < head->rows; i++) {
		const struct table_row *row = &table->rows[i];

		if (row->job == 0 || (i && row->job <= table->rows[i - 1].job))
			return "its rows are not in order";
		if (!in_range(row->factor) || !in_range(row->held))
			return "a factor is out of range";
	}
	return NULL;
}

/* All bytes or a reason; the file cannot grow beyond `size` for us, and may shrink at any time. */
static const char *read_all(int descriptor, unsigned char *into, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = read(descriptor, into + done, size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return "it cannot be read to its end";
		done += (size_t) got;
	}
	return NULL;
}

const char *table_read(struct table *table, const char *path, uid_t owner, int64_t now)
{
	const char *problem;
	struct stat file;
	/* O_NONBLOCK: a pipe in its place must not stop us. */
	int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	table_clear(table);
	if (descriptor < 0)
		return errno == ENOENT ? "there is none" : "it cannot be opened";
	problem = fstat(descriptor, &file) ? "it has no status" : check_file(&file, owner);
	/* read, not mmap: whoever shortens a mapped file kills slurmctld with SIGBUS. */
	if (!problem)
		problem = read_all(descriptor, (unsigned char *) table, (size_t) file.st_size);
	close(descriptor);
	if (!problem)
		problem = check_content(table, (size_t) file.st_size, now);
	if (problem)
		table_clear(table);
	return problem;
}

static const struct table_row *find(const struct table *table, uint32_t job)
{
	uint32_t low = 0, high = table->head.rows;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table->rows[middle].job < job)
			low = middle + 1;
		else
			high = middle;
	}
	return low < table->head.rows && table->rows[low].job == job ? &table->rows[low] : NULL;
}

/* A task that Slurm split off goes by its array's row until it has one of its own. */
static const struct table_row *row_of(const struct table *table, const struct table_job *job)
{
	const struct table_row *row = find(table, job->job);

	return row || !job->array ? row : find(table, job->array);
}

static bool row_gave(const struct table_row *row, int64_t current)
{
	return row && (current == row->factor || current == row->held);
}

bool table_gave(const struct table *table, const struct table_job *job)
{
	if (job->current == table->head.default_factor)
		return true;
	return row_gave(find(table, job->job), job->current) ||
	       (job->array && row_gave(find(table, job->array), job->current));
}

int64_t table_factor(const struct table *table, const struct table_job *job, int64_t now,
		     int64_t without)
{
	const struct table_row *row;

	if (now >= table->head.written + table->head.seconds)
		return 0;
	row = row_of(table, job);
	if (!row)
		return without;
	return now < table->head.written + row->seconds ? row->factor : 0;
}
