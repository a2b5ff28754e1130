enum class Processor : int { gfx900 = 900, gfx1201 = 1201 };
static Processor getActiveArch(int id) { if (name.find("gfx900") != npos) { return Processor::gfx900; } return {}; }
extern "C" void rocblas_initialize() {}
struct llama_context { int decode(const batch & b); };
template <int n> __global__ void mul_mat_q(const float * x) { }
static void launch(const float * x) { mul_mat_q<8><<<dim3(1, 2), 64, 0, stream>>>(x); }
int llama_context::decode(const batch & b) { launch(b.data); return iface.compute(b); }
int llama_decode(llama_context * c, batch b) { return c->decode(b); }
