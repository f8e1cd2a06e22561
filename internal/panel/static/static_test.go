package static

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestFilesAreKeptByTheirBuildAndNothingElseIsServed(t *testing.T) {
	_, stamp := built()
	for path, want := range map[string]struct {
		code  int
		cache string
	}{
		URL("tokens.css"):                {200, "public, max-age=31536000, immutable"},
		Prefix + "000000000000/keys.js":  {200, "no-store"},
		Prefix + stamp + "/static.go":    {404, ""},
		Prefix + stamp + "/../static.go": {404, ""},
		Prefix + stamp + "/":             {404, ""},
		Prefix:                           {404, ""},
	} {
		w := httptest.NewRecorder()
		Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want.code || w.Code == 200 && w.Header().Get("Cache-Control") != want.cache {
			t.Errorf("%s: %d %q", path, w.Code, w.Header().Get("Cache-Control"))
		}
	}
}

// A style sheet or script that names a file which does not exist would fail
// only in the browser.
func TestFilesNameOnlyFilesThatExist(t *testing.T) {
	content, _ := built()
	for name, data := range content {
		if name == "htmx.min.js" || name == "xterm.mjs" {
			continue
		}
		for _, quote := range []string{"url(", "from './"} {
			for _, part := range strings.Split(string(data), quote)[1:] {
				file := part[:strings.IndexAny(part, ")'")]
				if _, ok := content[file]; !ok {
					t.Errorf("%s names %q, which is not there", name, file)
				}
			}
		}
	}
}
