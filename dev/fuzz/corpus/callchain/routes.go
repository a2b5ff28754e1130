package server
import "fmt"
type Server struct { lc *llama.Context; cond *sync.Cond }
func (s *Server) GenerateHandler(c *Context) {
	s.cond.Signal()
	post(fmt.Sprintf("http://127.0.0.1:%d/completion", s.port))
	go s.run(c)
}
func (s *Server) run(c *Context) { s.cond.Wait(); C.llama_decode(s.lc.c) }
func (s *Server) register(r *Router) { r.POST("/api/generate", s.GenerateHandler) }
func post(to string) error { return nil }
