package prepare

import "testing"

// Words alone are no want of a dependency: a lock file has to name what a tool did not find.
func TestWanting(t *testing.T) {
	sums := File{Kind: Go, Text: "example.com/greet v1.0.0 h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n" +
		"example.com/greet v1.0.0/go.mod h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"}
	lock := File{Kind: NPM, Text: `{"lockfileVersion":3,"packages":{"":{"name":"app"},"lib":{"name":"own"},
		"node_modules/typescript":{"version":"5.0.0","bin":{"tsc":"bin/tsc"}},"node_modules/@a/b":{"version":"1.0.0"}}}`}
	for _, c := range []struct {
		output string
		want   Kind
	}{
		{`a.go:3:8: example.com/greet@v1.0.0: Get "https://proxy.golang.org/example.com/greet/@v/v1.0.0.zip": dial tcp: lookup x`, Go},
		{`go: example.com/greet@v1.0.0: module lookup disabled by GOPROXY=off`, Go},
		{"go: downloading example.com/greet v1.0.0\napp.go:3:8: module lookup disabled by GOPROXY=off\n", Go},
		{"go: downloading example.com/greet v1.0.0\napp_test.go:3: wrong\n", ""},
		{`go: example.com/greet@v1.1.0: module lookup disabled by GOPROXY=off`, ""},
		{`a.go:3:8: no required module provides package example.com/greet; to add it:`, ""},
		{`dial tcp: lookup example.com on 127.0.0.1:53: server misbehaving`, ""},
		{`note: module requires go >= 1.99 (running go 1.26)`, ""},
		{"> app@1.0.0 test\n> tsc\n\nsh: 1: tsc: not found\n", NPM},
		{"bash: line 1: jest: command not found\nnpm error code 127\n", ""},
		{`Error: Cannot find module '@a/b/part'`, NPM},
		{`Error: Cannot find module './typescript'`, ""},
		{`Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'left-pad' imported from x`, ""},
		{`npm error request to https://registry.npmjs.org/typescript failed, reason:`, NPM},
		{`Error: Cannot find module 'own'`, ""},
	} {
		if got, _ := Wanting(c.output, []File{sums, lock}); got != c.want {
			t.Errorf("%q lacks %q, want %q", c.output, got, c.want)
		}
		if got, lacking := Wanting(c.output, nil); lacking {
			t.Errorf("without a lock file %q lacks %q", c.output, got)
		}
	}
}
