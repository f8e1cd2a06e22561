// Command platforms says whether the program compiles for other systems: it checks the types of every package as the compiler
// would, from source, and makes no code, which costs a tenth. Arguments are systems (darwin, windows); what does not compile is
// printed, and the exit code is 1.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// unit is a package as go list tells it.
type unit struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
}

func main() {
	bad := len(os.Args) < 2
	for _, system := range os.Args[1:] {
		wrong, err := check(system)
		for _, w := range wrong {
			fmt.Fprintf(os.Stderr, "%s: %v\n", system, w)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", system, err)
		}
		bad = bad || err != nil || len(wrong) > 0
	}
	if bad {
		os.Exit(1)
	}
}

// check reads our packages and all that they need, each behind those that it imports, as go list has them.
func check(system string) (wrong []error, err error) {
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./...")
	list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	var said bytes.Buffer
	list.Stderr = &said
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, said.Bytes())
	}
	known, set := map[string]*types.Package{"unsafe": types.Unsafe}, token.NewFileSet()
	for all := json.NewDecoder(bytes.NewReader(out)); ; {
		var u unit
		if err := all.Decode(&u); errors.Is(err, io.EOF) {
			return wrong, nil
		} else if err != nil {
			return wrong, err
		}
		if u.ImportPath == "unsafe" {
			continue
		}
		ours := u.Module != nil && u.Module.Main
		files, err := read(set, u)
		if err != nil {
			return wrong, err
		}
		c := types.Config{
			Importer:         imports{known, u.ImportMap},
			IgnoreFuncBodies: !ours, // what others wrote compiles; only what it declares is needed
			Sizes:            types.SizesFor("gc", runtime.GOARCH),
			Error: func(err error) {
				if ours {
					wrong = append(wrong, err)
				}
			},
		}
		if u.Module != nil && u.Module.GoVersion != "" {
			c.GoVersion = "go" + u.Module.GoVersion
		}
		p, err := c.Check(u.ImportPath, set, files, nil)
		if err != nil && p == nil {
			return wrong, err
		}
		known[u.ImportPath] = p
	}
}

func read(set *token.FileSet, u unit) ([]*ast.File, error) {
	files := make([]*ast.File, 0, len(u.GoFiles))
	for _, name := range u.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(u.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// imports are the packages that were read before, by the names under which one package imports them.
type imports struct {
	known   map[string]*types.Package
	renamed map[string]string
}

func (i imports) Import(path string) (*types.Package, error) {
	if to := i.renamed[path]; to != "" {
		path = to
	}
	if p := i.known[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not among what go list named before", path)
}
