/* Loaded into a server's runner: one line on stderr for every llama_decode(), with its number of tokens and the first position.
   Shows the tokens that were really evaluated, independent of the server's report. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

/* include/llama.h of b5359 */
struct llama_batch {
    int32_t n_tokens;
    int32_t *token;
    float *embd;
    int32_t *pos;
    int32_t *n_seq_id;
    int32_t **seq_id;
    int8_t *logits;
};

int32_t llama_decode(void *context, struct llama_batch batch) {
    static int32_t (*real)(void *, struct llama_batch);
    if (!real) {
        real = (int32_t(*)(void *, struct llama_batch))dlsym(RTLD_NEXT, "llama_decode");
    }
    fprintf(stderr, "decodes: %d @ %d\n", batch.n_tokens, batch.pos && batch.n_tokens ? batch.pos[0] : -1);
    return real(context, batch);
}
