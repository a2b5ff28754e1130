#define LIMIT(x) ((x) * 2)
#if defined(NARROW) && LIMIT(1) > 1
#define PER 4
#else
#define PER 16
#endif
enum class kind : int { plain = 0, wide = 1 << 2 };
struct shape { int x = 1; int y = 1; int sum() const { return x + y; } };
template <typename T, int n> struct table { T items[n]; static constexpr int size = n; };
static const table<int, 3> steps = { { 1, 8, 64 } };
template <int width> static int tiles(int n) { return (n + width - 1) / width; }
static int at(int i) { switch (i) { case 0: return steps.items[0]; default: return steps.items[i % 3]; } }
int choose(int n) {
    shape s; s.x = n % PER; s.y += at(n >> 3);
    auto half = [&](int v) { return v / 2; };
    std::vector<int> seen; seen.push_back(half(n));
    for (int i = 0; i < 4; ++i) { if (n <= LIMIT(at(i))) return tiles<PER>(n) + i; }
    do { n -= s.sum() > 0 ? s.sum() : 1; } while (n > 100);
    return n < 0 ? static_cast<int>(kind::wide) : seen[0] << 1;
}
