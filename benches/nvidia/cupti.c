// The reference: every kernel that the device ran, as CUPTI reports it. The driver loads this through CUDA_INJECTION64_PATH.
// Writes one line per kernel name to $CUPTI_OUT: count, name. A `%d` at its end is replaced by the process id. With
// $CUPTI_SEQUENCE it also writes one line per kernel to that file: start, grid, block, static and dynamic shared memory,
// registers, name.
#include <cuda.h>
#include <cupti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef KERNEL
#define KERNEL CUpti_ActivityKernel9
#endif

struct row { char *name; unsigned long count; };
static struct row *rows;
static size_t used, room;
static size_t dropped_total;
static FILE *sequence;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(const char *name) {
    for (size_t i = 0; i < used; i++)
        if (!strcmp(rows[i].name, name)) { rows[i].count++; return; }
    if (used == room) rows = realloc(rows, (room = room ? 2 * room : 64) * sizeof *rows);
    rows[used].name = strdup(name);
    rows[used++].count = 1;
}

static void CUPTIAPI request(uint8_t **buffer, size_t *size, size_t *records) {
    *size = 8 << 20;
    *buffer = aligned_alloc(8, *size);
    *records = 0;
}

static void CUPTIAPI complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    CUpti_Activity *record = NULL;
    pthread_mutex_lock(&lock);
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || record->kind == CUPTI_ACTIVITY_KIND_KERNEL) {
            KERNEL *k = (KERNEL *)record;
            add(k->name);
            if (sequence)
                fprintf(sequence, "%llu\t%d,%d,%d\t%d,%d,%d\t%d\t%d\t%d\t%s\n", (unsigned long long)k->start, k->gridX, k->gridY, k->gridZ,
                        k->blockX, k->blockY, k->blockZ, k->staticSharedMemory, k->dynamicSharedMemory, k->registersPerThread, k->name);
        }
    size_t dropped = 0;
    cuptiActivityGetNumDroppedRecords(context, stream, &dropped);
    dropped_total += dropped;
    pthread_mutex_unlock(&lock);
    free(buffer);
}

static void end(void) {
    cuptiActivityFlushAll(1);
    if (sequence) fclose(sequence);
    sequence = NULL;
    const char *said = getenv("CUPTI_OUT");
    char path[4096];
    int size = said ? (int)strlen(said) : 0, each = size > 2 && !strcmp(said + size - 2, "%d");
    if (each) snprintf(path, sizeof path, "%.*s%d", size - 2, said, (int)getpid());
    FILE *out = said ? fopen(each ? path : said, "w") : NULL;
    if (!out) return;
    for (size_t i = 0; i < used; i++) fprintf(out, "%lu\t%s\n", rows[i].count, rows[i].name);
    fprintf(out, "%zu\tDROPPED\n", dropped_total);
    fclose(out);
}

int InitializeInjection(void) {
    const char *each = getenv("CUPTI_SEQUENCE");
    sequence = each ? fopen(each, "w") : NULL;
    unsetenv("CUPTI_SEQUENCE"); // Processes that the program starts write no second file.
    cuptiActivityRegisterCallbacks(request, complete);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    atexit(end);
    return 1;
}
