package httpapi

import (
	"net/http"

	"tandem/internal/journal"
)

// tile serves the journal's tree in C2SP form: plain bytes, which never change
// once they exist, except for the checkpoint.
func (s *Server) tile(w http.ResponseWriter, r *http.Request) {
	in := journal.TileIn{Path: r.PathValue("path")}
	ctx, err := s.Gate.Admit(r.Context(), "audit.tile", in)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	data, immutable, err := s.Journal.Static(ctx, in.Path)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	if immutable {
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	w.Write(data)
}
