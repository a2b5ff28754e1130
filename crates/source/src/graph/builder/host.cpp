// The machine that the program of the tree runs on: a CPU and one GPU without memory contents. Addresses are numbers. Functions that
// begin with wk_ and have no body here are answered in host.rs.
#include "ggml-backend-impl.h"
#include "llama-model.h"
#include "llama-context.h"
#include "llama-model-loader.h"

static ggml_backend_device wk_cpu;
static ggml_backend_device wk_gpu;
static ggml_backend_reg wk_registry;
static ggml_backend_buffer_type wk_gpu_memory;
static ggml_backend_buffer_type wk_host_memory;
static ggml_backend_buffer_type wk_cpu_memory;

static const char * wk_reg_name(ggml_backend_reg_t reg) { return "ROCm"; }
static const char * wk_gpu_name(ggml_backend_dev_t dev) { return "ROCm0"; }
static const char * wk_cpu_name(ggml_backend_dev_t dev) { return "CPU"; }
static void wk_memory(ggml_backend_dev_t dev, size_t * free, size_t * total) { *free = 17179869184; *total = 17179869184; }
static enum ggml_backend_dev_type wk_gpu_type(ggml_backend_dev_t dev) { return GGML_BACKEND_DEVICE_TYPE_GPU; }
static enum ggml_backend_dev_type wk_cpu_type(ggml_backend_dev_t dev) { return GGML_BACKEND_DEVICE_TYPE_CPU; }
static void wk_gpu_props(ggml_backend_dev_t dev, struct ggml_backend_dev_props * props) {
    memset(props, 0, sizeof(*props));
    props->type = GGML_BACKEND_DEVICE_TYPE_GPU;
    props->caps.async = true;
    props->caps.host_buffer = true;
    props->caps.events = true;
}
static void wk_cpu_props(ggml_backend_dev_t dev, struct ggml_backend_dev_props * props) {
    memset(props, 0, sizeof(*props));
    props->type = GGML_BACKEND_DEVICE_TYPE_CPU;
    props->caps.buffer_from_host_ptr = true;
}

static const char * wk_gpu_memory_name(ggml_backend_buffer_type_t buft) { return "ROCm0"; }
static const char * wk_host_memory_name(ggml_backend_buffer_type_t buft) { return "ROCm_Host"; }
static const char * wk_cpu_memory_name(ggml_backend_buffer_type_t buft) { return "CPU"; }
static size_t wk_gpu_alignment(ggml_backend_buffer_type_t buft) { return 128; }
static size_t wk_cpu_alignment(ggml_backend_buffer_type_t buft) { return 32; }
static bool wk_yes(ggml_backend_buffer_type_t buft) { return true; }
static bool wk_no(ggml_backend_buffer_type_t buft) { return false; }
// As ggml-cuda allocates: rows of quantized tensors are padded.
static size_t wk_gpu_size(ggml_backend_buffer_type_t buft, const struct ggml_tensor * tensor) {
    size_t size = ggml_nbytes(tensor);
    int64_t ne0 = tensor->ne[0];
    if (ggml_is_quantized(tensor->type)) {
        if (ne0 % 512 != 0) {
            size += ggml_row_size(tensor->type, 512 - ne0 % 512);
        }
    }
    return size;
}
static void * wk_base(ggml_backend_buffer_t buffer) { return buffer->context; }
static void wk_clear(ggml_backend_buffer_t buffer, uint8_t value) {}
static ggml_backend_buffer_t wk_alloc(ggml_backend_buffer_type_t buft, size_t size) {
    struct ggml_backend_buffer_i iface = {};
    iface.get_base = wk_base;
    iface.clear = wk_clear;
    return ggml_backend_buffer_init(buft, iface, wk_address(size), size);
}
static ggml_backend_buffer_type_t wk_gpu_buft(ggml_backend_dev_t dev) { return &wk_gpu_memory; }
static ggml_backend_buffer_type_t wk_host_buft(ggml_backend_dev_t dev) { return &wk_host_memory; }
static ggml_backend_buffer_type_t wk_cpu_buft(ggml_backend_dev_t dev) { return &wk_cpu_memory; }
static bool wk_gpu_supports_buft(ggml_backend_dev_t dev, ggml_backend_buffer_type_t buft) { return buft == &wk_gpu_memory; }
static bool wk_cpu_supports_buft(ggml_backend_dev_t dev, ggml_backend_buffer_type_t buft) { return buft != &wk_gpu_memory; }
static bool wk_gpu_supports(ggml_backend_dev_t dev, const struct ggml_tensor * op) { return wk_supports(op); }
static bool wk_cpu_supports(ggml_backend_dev_t dev, const struct ggml_tensor * op) { return true; }
static bool wk_offload(ggml_backend_dev_t dev, const struct ggml_tensor * op) { return false; }
static const char * wk_gpu_backend_name(ggml_backend_t backend) { return "ROCm0"; }
static const char * wk_cpu_backend_name(ggml_backend_t backend) { return "CPU"; }
static void wk_wait(ggml_backend_t backend) {}
static void wk_optimize(ggml_backend_t backend, struct ggml_cgraph * cgraph, struct ggml_backend_graph_optimize_params * params) {
    wk_optimize_graph(backend, cgraph, params);
}
static ggml_backend_t wk_gpu_init(ggml_backend_dev_t dev, const char * params) {
    ggml_backend_t backend = new ggml_backend();
    backend->iface.get_name = wk_gpu_backend_name;
    backend->iface.synchronize = wk_wait;
    backend->iface.graph_optimize = wk_optimize;
    backend->context = wk_context();
    backend->device = dev;
    return backend;
}
static ggml_backend_t wk_cpu_init(ggml_backend_dev_t dev, const char * params) {
    ggml_backend_t backend = new ggml_backend();
    backend->iface.get_name = wk_cpu_backend_name;
    backend->device = dev;
    return backend;
}
size_t ggml_backend_dev_count(void) { return 2; }
ggml_backend_dev_t ggml_backend_dev_get(size_t index) { return index == 0 ? &wk_gpu : &wk_cpu; }
ggml_backend_dev_t ggml_backend_dev_by_type(enum ggml_backend_dev_type type) {
    return type == GGML_BACKEND_DEVICE_TYPE_GPU ? &wk_gpu : type == GGML_BACKEND_DEVICE_TYPE_CPU ? &wk_cpu : nullptr;
}
ggml_backend_t ggml_backend_init_by_type(enum ggml_backend_dev_type type, const char * params) {
    return type == GGML_BACKEND_DEVICE_TYPE_CPU ? wk_cpu_init(&wk_cpu, params) : wk_gpu_init(&wk_gpu, params);
}
void * ggml_backend_reg_get_proc_address(ggml_backend_reg_t reg, const char * name) { return nullptr; }

static void wk_start(void) {
    wk_registry.iface.get_name = wk_reg_name;
    wk_gpu.reg = &wk_registry;
    wk_cpu.reg = &wk_registry;
    wk_gpu.iface.get_name = wk_gpu_name;
    wk_gpu.iface.get_description = wk_gpu_name;
    wk_gpu.iface.get_memory = wk_memory;
    wk_gpu.iface.get_type = wk_gpu_type;
    wk_gpu.iface.get_props = wk_gpu_props;
    wk_gpu.iface.init_backend = wk_gpu_init;
    wk_gpu.iface.get_buffer_type = wk_gpu_buft;
    wk_gpu.iface.get_host_buffer_type = wk_host_buft;
    wk_gpu.iface.supports_op = wk_gpu_supports;
    wk_gpu.iface.supports_buft = wk_gpu_supports_buft;
    wk_gpu.iface.offload_op = wk_offload;
    wk_cpu.iface.get_name = wk_cpu_name;
    wk_cpu.iface.get_description = wk_cpu_name;
    wk_cpu.iface.get_memory = wk_memory;
    wk_cpu.iface.get_type = wk_cpu_type;
    wk_cpu.iface.get_props = wk_cpu_props;
    wk_cpu.iface.init_backend = wk_cpu_init;
    wk_cpu.iface.get_buffer_type = wk_cpu_buft;
    wk_cpu.iface.supports_op = wk_cpu_supports;
    wk_cpu.iface.supports_buft = wk_cpu_supports_buft;
    wk_gpu_memory.iface.get_name = wk_gpu_memory_name;
    wk_gpu_memory.iface.alloc_buffer = wk_alloc;
    wk_gpu_memory.iface.get_alignment = wk_gpu_alignment;
    wk_gpu_memory.iface.get_alloc_size = wk_gpu_size;
    wk_gpu_memory.iface.is_host = wk_no;
    wk_gpu_memory.device = &wk_gpu;
    wk_host_memory.iface.get_name = wk_host_memory_name;
    wk_host_memory.iface.alloc_buffer = wk_alloc;
    wk_host_memory.iface.get_alignment = wk_cpu_alignment;
    wk_host_memory.iface.is_host = wk_yes;
    wk_host_memory.device = &wk_gpu;
    wk_cpu_memory.iface.get_name = wk_cpu_memory_name;
    wk_cpu_memory.iface.alloc_buffer = wk_alloc;
    wk_cpu_memory.iface.get_alignment = wk_cpu_alignment;
    wk_cpu_memory.iface.is_host = wk_yes;
    wk_cpu_memory.device = &wk_cpu;
}

// The buffer of a model's tensor.
static ggml_backend_buffer_t wk_weights(bool gpu) {
    static ggml_backend_buffer_t on_gpu = nullptr;
    static ggml_backend_buffer_t on_cpu = nullptr;
    if (on_gpu == nullptr) {
        on_gpu = wk_alloc(&wk_gpu_memory, 1099511627776);
        on_cpu = wk_alloc(&wk_host_memory, 1099511627776);
        on_gpu->usage = GGML_BACKEND_BUFFER_USAGE_WEIGHTS;
        on_cpu->usage = GGML_BACKEND_BUFFER_USAGE_WEIGHTS;
    }
    return gpu ? on_gpu : on_cpu;
}
static ggml_context * wk_model_context(void) {
    static ggml_context * ctx = nullptr;
    if (ctx == nullptr) {
        ggml_init_params params = { 1099511627776, nullptr, true };
        ctx = ggml_init(params);
    }
    return ctx;
}
// A tensor of the file, on the device of its layer.
ggml_tensor * wk_tensor(int type, int n_dims, const int64_t * ne, bool gpu) {
    ggml_tensor * tensor = ggml_new_tensor(wk_model_context(), (ggml_type) type, n_dims, ne);
    tensor->buffer = wk_weights(gpu);
    tensor->data = wk_address(wk_gpu_size(&wk_gpu_memory, tensor));
    return tensor;
}
// Whether a tensor of the file belongs to the GPU: all layers and the output do.
bool wk_on_gpu(llm_tensor tensor, bool again) {
    if (tensor == LLM_TENSOR_TOKEN_EMBD && again) {
        return true;
    }
    return llm_tensor_info_for(tensor).layer != LLM_TENSOR_LAYER_INPUT;
}

llama_model * wk_load(llama_model_loader * ml, const char * architecture) {
    wk_start();
    llama_model_params params = llama_model_default_params();
    llm_arch arch = llm_arch_from_string(architecture);
    llama_model * model = llama_model_create(arch, params);
    if (model == nullptr) {
        throw 1;
    }
    llama_device device = {};
    device.dev = &wk_gpu;
    model->devices.push_back(device);
    model->load_hparams(*ml);
    model->layers.resize(model->hparams.n_layer_all);
    llama_model_base * base = (llama_model_base *) model;
    base->ml = ml;
    model->load_arch_tensors(*ml);
    return model;
}

void wk_decode(llama_model * model, int n_tokens, int n_ctx, int n_ubatch) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = n_ctx;
    params.n_batch = n_tokens;
    params.n_ubatch = n_ubatch;
    llama_context * ctx = new llama_context(*model, params);
    wk_opened();
    llama_batch batch = llama_batch_init(n_tokens, 0, 1);
    batch.n_tokens = n_tokens;
    for (int i = 0; i < n_tokens; i++) {
        batch.token[i] = 0;
        batch.pos[i] = i;
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = 0;
        batch.logits[i] = i == n_tokens - 1;
    }
    llama_decode(ctx, batch);
}
