package daemon

import (
	_ "embed"
	"encoding/base64"
	"net/http"
	"strings"
)

// The connector's icon: for clients that read it from MCP's server info, and
// for those that fetch the origin's own.
//
//go:embed icon.png
var icon []byte

func iconURI() string { return "data:image/png;base64," + base64.StdEncoding.EncodeToString(icon) }

func icons() map[string]http.Handler {
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Cache-Control", "public, max-age=86400")
		w.Write(icon)
	})
	return map[string]http.Handler{"GET /favicon.ico": serve, "GET /icon.png": serve}
}

// urlToken is a header of our own making: the token came in the URL, where
// only the bridge's narrow one may be.
const urlToken = "Tandem-Url-Token"

// bridged accepts the connector's token where chat apps can put it: as
// /TOKEN/mcp or /mcp?token=TOKEN. It moves it into the header, out of the URL,
// before anything else sees the request.
func bridged(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del(urlToken)
		token := ""
		if first, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); ok && rest == "mcp" && len(first) >= 16 {
			token = first
		} else if q := r.URL.Query(); r.URL.Path == "/mcp" && q.Has("token") {
			token = q.Get("token")
			q.Del("token")
			r.URL.RawQuery = q.Encode()
		}
		if token != "" && r.Header.Get("Authorization") == "" {
			r.Header.Set(urlToken, token)
			r.URL.Path, r.URL.RawPath, r.RequestURI = "/mcp", "", "/mcp"
		}
		h.ServeHTTP(w, r)
	})
}
