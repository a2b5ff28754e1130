//! Tests call chains on small trees that contain the constructs of real ones.

use callchain::{Chain, File, Kind, Subject, facts, index, trace};

const ROUTES: &str = r#"package server
import "example.com/x/llm"
func (s *Server) GenerateHandler(c *Context) {
	r, err := s.schedule(c)
	r.Completion(c, nil)
}
func (s *Server) schedule(c *Context) (llm.LlamaServer, error) {
	return nil, nil
}
type Server struct{}
func (s *Server) register(r *Router) {
	r.POST("/api/generate", s.logged("/api/generate", s.GenerateHandler)...)
}
"#;

const LLM: &str = r#"package llm
import "fmt"
func (s *llmServer) Completion(ctx Context) error {
	endpoint := fmt.Sprintf("http://127.0.0.1:%d/completion", s.port)
	return post(endpoint)
}
func StartRunner() {
	exe, err := os.Executable(); cmd = exec.Command(exe, params...)
	pathEnv = "LD_LIBRARY_PATH"
}
type llmServer struct{}
type LlamaServer interface {
	Completion(ctx Context) error
}
"#;

const RUNNER: &str = r#"package runner
import ("encoding/json"; "example.com/x/llama")
type Server struct {
	lc *llama.Context
	cond *sync.Cond
}
func (s *Server) completion(w Writer, r *Request) {
	json.NewDecoder(r.Body).Decode(&req)
	s.seqs = append(s.seqs, req)
	s.cond.Signal()
}
func (s *Server) processBatch() error {
	s.cond.Wait()
	return s.lc.Decode(batch)
}
func Execute() {
	go server.run(ctx)
	mux.HandleFunc("POST /completion", server.completion)
}
"#;

const CGO: &str = r#"package llama
type Context struct { c *C.struct_llama_context }
func (c *Context) Decode(batch *Batch) error {
	code := int(C.llama_decode(c.c, batch.c))
	return nil
}
"#;

/// Another method of the same name, distinguished only by the type of the field.
const OTHER_DECODE: &str = "package gguf\nfunc (g *Reader) Decode() error { return nil }\n";

const CONTEXT: &str = r#"
struct llama_context {
    int decode(const llama_batch & batch);
    int graph_compute(ggml_cgraph * gf);
};
int llama_context::decode(const llama_batch & batch) {
    return graph_compute(gf);
}
int llama_context::graph_compute(ggml_cgraph * gf) {
    return ggml_backend_graph_compute(backend, gf);
}
int32_t llama_decode(llama_context * ctx, llama_batch batch) {
    return ctx->decode(batch);
}
void defaults() {
    llama_model_params result = {
        /*.split_mode =*/ LLAMA_SPLIT_MODE_LAYER,
    };
}
"#;

const BACKEND: &str = r#"
typedef struct ggml_backend * ggml_backend_t;
struct ggml_backend_i {
    enum ggml_status (*graph_compute)(ggml_backend_t backend, struct ggml_cgraph * cgraph);
};
struct ggml_backend {
    struct ggml_backend_i iface;
};
enum ggml_status ggml_backend_graph_compute(ggml_backend_t backend, ggml_cgraph * gf) {
    return backend->iface.graph_compute(backend, gf);
}
"#;

const CPU: &str = r#"
static int cpu_graph_compute(ggml_backend_t b, ggml_cgraph * g) { return 0; }
static const ggml_backend_i cpu_i = { /* .graph_compute = */ cpu_graph_compute, };
"#;

const CUDA: &str = r#"
static void mul_mat_q_launch(ctx & c) {
    mul_mat_q<type, 8><<<grid, block, 0, stream>>>(x, y);
}
template <typename K> static void launch_with(const K kernel, params p) {
    kernel<<<p.grid, p.block>>>(p.args);
}
static void fwht(ctx & c) {
    launch_with(fwht_kernel<128>, p);
}
static void op_cublas(ctx & c) {
    cublasGemmEx(handle, CUBLAS_OP_T);
}
static void mul_mat(ctx & c, tensor * dst) {
    if (hadamard) {
        fwht(c);
    } else if (use_mmq) {
        mul_mat_q_launch(c);
    } else {
        op_mul_mat(c, dst, op_cublas, nullptr);
    }
}
static bool compute_forward(ctx & c, tensor * dst) {
    switch (dst->op) {
        case GGML_OP_MUL_MAT:
            mul_mat(c, dst);
            break;
    }
    return true;
}
static int cuda_graph_compute(ggml_backend_t b, ggml_cgraph * g) {
    return compute_forward(c, g->nodes[0]);
}
static const ggml_backend_i cuda_i = { /* .graph_compute = */ cuda_graph_compute, };
"#;

const HIP: &str = "#define cublasGemmEx hipblasGemmEx\n#define CUBLAS_OP_T 1\n";

const SERVER: &str = r#"
struct server_queue {
    std::function<void(void)> callback_update_slots;
    void on_update_slots(std::function<void(void)> callback) {
        callback_update_slots = std::move(callback);
    }
    void post(task && t) {
        condition_tasks.notify_one();
    }
    void start_loop() {
        condition_tasks.wait(lock);
        callback_update_slots();
    }
};
struct server_context {
    server_queue queue_tasks;
    void init() {
        queue_tasks.on_update_slots([this]() {
            update_slots();
        });
        this->post_completions = [this](const req & r) {
            return handle(r);
        };
    }
    void handle(const req & r) {
        queue_tasks.post(task(r));
    }
    void update_slots() {
        llama_decode(ctx, batch);
    }
};
int main() {
    http.post("/completion", wrap(routes.post_completions));
}
"#;

fn file(path: &str, text: &str) -> File {
    File { path: path.into(), text: text.into() }
}

fn library() -> Vec<File> {
    vec![
        file("src/llama-context.cpp", CONTEXT),
        file("ggml/src/ggml-backend.cpp", BACKEND),
        file("ggml/src/ggml-cpu/ggml-cpu.cpp", CPU),
        file("ggml/src/ggml-cuda/ggml-cuda.cu", CUDA),
        file("ggml/src/ggml-cuda/vendors/hip.h", HIP),
    ]
}

fn go_server() -> Vec<File> {
    vec![
        file("server/routes.go", ROUTES),
        file("llm/server.go", LLM),
        file("runner/runner.go", RUNNER),
        file("llama/llama.go", CGO),
        file("fs/gguf/gguf.go", OTHER_DECODE),
    ]
}

fn titles(chain: &Chain) -> Vec<(Kind, &str)> {
    chain.legs.iter().flat_map(|leg| &leg.steps).map(|step| (step.kind, step.to.as_str())).collect()
}

#[test]
fn a_request_is_followed_over_http_a_condition_cgo_and_an_interface_table() {
    let files = [go_server(), library()].concat();
    let chains = trace(&index(&files), "/api/generate");
    assert_eq!(chains.len(), 1);
    assert_eq!(
        titles(&chains[0]),
        [
            (Kind::Route, "Server.GenerateHandler"),
            (Kind::Virtual, "llmServer.Completion"),
            (Kind::Http, "Server.completion"),
            (Kind::HandOff, "Server.processBatch"),
            (Kind::Call, "Context.Decode"),
            (Kind::Cgo, "llama_decode"),
            (Kind::Call, "llama_context::decode"),
            (Kind::Call, "llama_context::graph_compute"),
            (Kind::Call, "ggml_backend_graph_compute"),
            (Kind::Virtual, "cuda_graph_compute"),
            (Kind::Call, "compute_forward"),
            (Kind::Call, "mul_mat"),
        ]
    );
}

#[test]
fn lines_are_those_of_the_call() {
    let files = [go_server(), library()].concat();
    let chain = trace(&index(&files), "/api/generate").remove(0);
    let steps: Vec<_> = chain.legs.iter().flat_map(|leg| &leg.steps).collect();
    let http = steps.iter().find(|step| step.kind == Kind::Http).expect("a step over HTTP");
    assert_eq!((http.at.file.as_str(), http.at.line), ("llm/server.go", 4));
    assert_eq!((http.arrives.file.as_str(), http.arrives.line), ("runner/runner.go", 7));
    let cgo = steps.iter().find(|step| step.kind == Kind::Cgo).expect("a step into C");
    assert_eq!((cgo.at.file.as_str(), cgo.at.line), ("llama/llama.go", 4));
}

#[test]
fn the_other_backends_table_is_named_as_an_alternative() {
    let files = [go_server(), library()].concat();
    let chain = trace(&index(&files), "/api/generate").remove(0);
    let table = chain.legs.iter().flat_map(|leg| &leg.steps).find(|step| step.to == "cuda_graph_compute");
    assert_eq!(table.expect("a step through a table").others, ["cpu_graph_compute ggml/src/ggml-cpu/ggml-cpu.cpp:2"]);
}

#[test]
fn branches_end_in_a_launch_or_in_the_vendors_name_for_a_blas_call() {
    let files = [go_server(), library()].concat();
    let chain = trace(&index(&files), "/api/generate").remove(0);
    let ends: Vec<(&str, Kind, &str)> = chain
        .branches
        .iter()
        .flat_map(|branch| {
            branch.ways.iter().filter_map(|way| way.last()).map(|end| (branch.name.as_str(), end.kind, end.to.as_str()))
        })
        .collect();
    assert_eq!(
        ends[0],
        ("fwht", Kind::Launch, "fwht_kernel"),
        "a launch through a wrapper names the kernel it is given"
    );
    assert_eq!(
        ends[1..],
        [("mul_mat_q_launch", Kind::Launch, "mul_mat_q"), ("op_cublas", Kind::Vendor, "hipblasGemmEx")]
    );
}

#[test]
fn a_cpp_server_hands_over_through_its_queue_and_callback() {
    let files = [vec![file("tools/server/server.cpp", SERVER)], library()].concat();
    let chain = trace(&index(&files), "/completion").remove(0);
    let way: Vec<&str> = titles(&chain).into_iter().map(|(_, title)| title).take(6).collect();
    assert_eq!(
        way,
        [
            "server_context::post_completions",
            "server_context::handle",
            "server_queue::post",
            "server_queue::start_loop",
            "server_context::on_update_slots()",
            "server_context::update_slots",
        ]
    );
}

#[test]
fn a_child_program_that_is_not_in_the_tree_is_said_to_be_missing_and_found_in_a_second_tree() {
    let mut files: Vec<File> = go_server().into_iter().filter(|file| !file.path.starts_with("runner/")).collect();
    for part in files.iter_mut().filter(|part| part.path.starts_with("llm/")) {
        part.text = part
            .text
            .replace("exe, err := os.Executable(); cmd = exec.Command(exe,", "cmd = exec.Command(\"llama-server\",");
    }
    let chain = trace(&index(&files), "/api/generate").remove(0);
    assert_eq!(chain.open.len(), 1, "{:?}", chain.open);
    files.push(file("tree2/tools/server/server.cpp", SERVER));
    files.extend(library().into_iter().map(|part| File { path: format!("tree2/{}", part.path), ..part }));
    let chain = trace(&index(&files), "/api/generate").remove(0);
    assert!(chain.open.is_empty(), "{:?}", chain.open);
    assert!(titles(&chain).contains(&(Kind::Http, "server_context::post_completions")));
}

/// As in Ollama 0.30.0, the package that sends the request starts llama-server, which is not in the tree. The image
/// generator serves the same path.
#[test]
fn a_server_of_the_same_path_is_not_the_program_that_was_started() {
    let start = "exe, err := os.Executable(); cmd = exec.Command(exe, params...)";
    let found =
        "func FindServer() (string, error) {\n\treturn find(\"llama-server\", search())\n}\ntype llmServer struct{}";
    for (other, named) in [
        ("exe, err := FindServer(); cmd = exec.Command(exe, params...)", true),
        ("cmd = exec.Command(\"llama-server\", params...)", true),
        ("exe, err := FindServer(); cmd = exec.CommandContext(ctx, exe, params...)", true),
        (start, false),
    ] {
        let llm = LLM.replace(start, other).replace("type llmServer struct{}", found);
        let mut files: Vec<File> = [go_server(), library()].concat();
        files.iter_mut().filter(|file| file.path.starts_with("llm/")).for_each(|file| file.text = llm.clone());
        let chain = trace(&index(&files), "/api/generate").remove(0);
        assert_eq!(titles(&chain).contains(&(Kind::Http, "Server.completion")), !named, "{other}");
        assert_eq!(chain.open.iter().any(|open| open.as_str().contains("llama-server")), named, "{:?}", chain.open);
        if !named {
            continue;
        }
        files.push(file("tree2/tools/server/server.cpp", SERVER));
        files.extend(library().into_iter().map(|part| File { path: format!("tree2/{}", part.path), ..part }));
        let chains = trace(&index(&files), "/api/generate");
        assert_eq!(chains.len(), 1);
        assert!(titles(&chains[0]).contains(&(Kind::Http, "server_context::post_completions")), "{chains:?}");
    }
}

#[test]
fn a_tree_without_a_gpu_backend_says_where_it_stops() {
    let files: Vec<File> =
        [go_server(), library()].concat().into_iter().filter(|file| !file.path.ends_with(".cu")).collect();
    let chain = trace(&index(&files), "/api/generate").remove(0);
    assert!(chain.branches.is_empty());
    assert!(chain.open[0].as_str().contains("GGML_OP_MUL_MAT"), "{:?}", chain.open);
}

#[test]
fn what_stands_beside_the_chain_is_found_with_its_lines() {
    let files = [go_server(), library()].concat();
    let found: Vec<(Subject, u32)> = facts(&files).iter().map(|fact| (fact.subject, fact.at.line)).collect();
    assert!(found.contains(&(Subject::Process, 8)));
    assert!(found.contains(&(Subject::LibraryPath, 9)));
    assert!(!found.iter().any(|(subject, _)| *subject == Subject::SplitRequest));
}

/// Bugs found with Ollama 0.30.0 to 0.31.0: the name of a parameter was resolved to a function, and `ptr.get()` was
/// read as a route.
#[test]
fn a_parameter_is_no_function_and_a_receiver_of_unknown_type_is_not_guessed() {
    let slice = "void mlx_slice(const int * start) {\n    use(start);\n}\nvoid f(std::unique_ptr<thing> p, opaque o) {\n    p.get();\n    auto x = o.made();\n    x.get();\n}\n";
    let http = "struct http_context {\n    void get(const char * path) {\n        llama_decode(ctx, batch);\n    }\n};\nvoid start() {\n    llama_decode(ctx, batch);\n}\n";
    let files = [vec![file("x/mlx/mlx.c", slice), file("tree2/tools/server/http.cpp", http)], library()].concat();
    let index = index(&files);
    assert!(callchain::between(&index, "mlx_slice", "llama_decode").is_none());
    assert!(callchain::between(&index, "f", "llama_decode").is_none());
    assert!(callchain::between(&index, "start", "llama_decode").is_some());
}

/// As in Ollama 0.5.7, code that rejects the operation comes before the code that performs it.
#[test]
fn the_dispatcher_is_what_leads_to_a_launch_not_the_first_call_of_its_case() {
    let refused = "            if (dst->ne[3]) {\n                LOG_ERROR(\"no\");\n                return false;\n            } else {\n                mul_mat(c, dst);\n            }";
    let cuda = CUDA
        .replace("            mul_mat(c, dst);", refused)
        .replace("static bool compute_forward", "enum status compute_forward");
    let files: Vec<File> = [go_server(), library()]
        .concat()
        .into_iter()
        .map(|part| if part.path.ends_with(".cu") { File { text: cuda.clone(), ..part } } else { part })
        .collect();
    let chain = trace(&index(&files), "/api/generate").remove(0);
    assert!(chain.open.is_empty(), "{:?}", chain.open);
    assert_eq!(titles(&chain).last(), Some(&(Kind::Call, "mul_mat")));
}

#[test]
fn where_a_chain_stops_the_calls_that_were_not_followed_are_named() {
    let lost = LLM
        .replace("endpoint := fmt", "x := unknown()\n\tx.Decode()\n\tendpoint := fmt")
        .replace("/completion", "/other");
    let files = [
        vec![file("server/routes.go", ROUTES), file("llm/server.go", &lost)],
        vec![file("llama/llama.go", CGO)],
        library(),
    ]
    .concat();
    let chain = trace(&index(&files), "/api/generate").remove(0);
    assert!(!chain.open.is_empty());
    let named: Vec<(&str, u32)> = chain.unresolved.iter().map(|open| (open.call.as_str(), open.at.line)).collect();
    assert_eq!((named, chain.unresolved_calls), (vec![("x.Decode", 5)], 1));
}

/// Checks on real sources that the line of each step contains the name that the step follows.
#[test]
fn every_call_of_a_real_way_stands_on_its_line() {
    let Some(dir) = test_artifacts::need("llama-cpp-sys-4-0.11.0") else { return };
    let tree = source::Tree::open(&dir.display().to_string()).expect("a tree");
    let (texts, _) = source::tree::collect(std::slice::from_ref(&tree), callchain::wanted);
    let files: Vec<File> = texts.into_iter().map(File::from).collect();
    let index = index(&files);
    for (from, to) in [("llama_decode", "ggml_cuda_mul_mat"), ("ggml_cuda_mul_mat", "launch_mul_mat_q")] {
        let steps = callchain::between(&index, from, to).unwrap_or_else(|| panic!("no way from {from} to {to}"));
        assert!(steps.len() > 1, "{steps:?}");
        for step in &steps {
            let text = files.iter().find(|file| file.path == step.at.file).map_or("", |file| file.text.as_str());
            let line = text.lines().nth(step.at.line as usize - 1).unwrap_or("");
            let word = step.to.rsplit("::").next().unwrap_or("");
            let slot = step.kind == Kind::Virtual && line.contains("graph_compute");
            assert!(line.contains(word) || slot, "{step:?}: {line}");
        }
    }
}
