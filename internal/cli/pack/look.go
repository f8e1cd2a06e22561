package pack

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/pack/folder"
	"tandem/internal/pack/parts"
	"tandem/internal/pack/wire"
)

// read is a pack by its folder, or by the name of one that comes with tandem, and what it would be allowed.
func read(cmd *cobra.Command, k *kit.Kit, from string, set []string) (p wire.Pack, out wire.PreviewOut, err error) {
	given := map[string]string{}
	for _, s := range set {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return p, out, fault.New(fault.Invalid, "pack", "%q is no setting", s).WithNext("write --set NAME=VALUE")
		}
		given[name] = value
	}
	dir, done, err := open(from)
	if err != nil {
		return p, out, err
	}
	defer done()
	if p, err = folder.Read(dir, given); err != nil {
		return p, out, err
	}
	out, err = op.Do(cmd.Context(), k, wire.Preview, p)
	return p, out, err
}

// open is a pack that comes with tandem, by its name alone, or a folder, out of which no link leads. A folder of such a name, which anybody
// may have put where the command is typed, is written with a separator: ./vendor-risk.
func open(from string) (dir fs.FS, done func(), err error) {
	if dir := parts.Folder(from); dir != nil {
		return dir, func() {}, nil
	}
	if info, err := os.Stat(from); err == nil && info.IsDir() {
		root, err := os.OpenRoot(from)
		if err != nil {
			return nil, nil, fault.New(fault.NotFound, "pack", "%s cannot be read: %v", from, err)
		}
		return root.FS(), func() { root.Close() }, nil
	}
	return nil, nil, fault.New(fault.NotFound, "pack", "there is no folder %s, and no such pack comes with tandem", from).
		WithNext("see what there is: tandem pack list")
}

// origin says where a pack was read.
func origin(from string) string {
	if parts.Folder(from) != nil {
		return "comes with tandem"
	}
	if whole, err := filepath.Abs(from); err == nil {
		from = whole
	}
	return "read from " + kit.VisibleLine(from)
}

// describe is a pack as a person looks at it before installing it.
func describe(w io.Writer, from string, p wire.Pack, out wire.PreviewOut) {
	fmt.Fprintf(w, "%s, version %s, %s\n", p.Name, kit.VisibleLine(p.Version), origin(from))
	for _, line := range []string{p.Title, p.About} {
		if line != "" {
			fmt.Fprintln(w, kit.VisibleLine(line))
		}
	}
	fmt.Fprintln(w, "digest: "+out.Digest)
	last := ""
	for _, m := range out.May {
		if m.Whose != last {
			fmt.Fprintln(w, kit.VisibleLine(m.Whose)+":")
		}
		last = m.Whose
		fmt.Fprintln(w, "  "+kit.VisibleLine(m.What))
	}
	for _, no := range out.Cannot {
		fmt.Fprintln(w, "cannot be installed here: "+kit.VisibleLine(no))
	}
	for _, f := range out.Ungranted {
		f = kit.VisibleLine(f)
		fmt.Fprintf(w, "not granted, so nothing of it works there: %s; grant it: tandem grant folder %s\n", f, f)
	}
	switch out.Installed {
	case "":
	case out.Digest:
		fmt.Fprintln(w, "this version is installed")
	default:
		fmt.Fprintln(w, "against the version that is installed:")
		text(w, out.Changes)
	}
}

func text(w io.Writer, s string) {
	for line := range strings.Lines(s) {
		fmt.Fprintln(w, "  "+kit.VisibleLine(strings.TrimSuffix(line, "\n")))
	}
}

// everything prints the texts of a pack.
func everything(w io.Writer, p wire.Pack) {
	for _, a := range p.Automations {
		fmt.Fprintln(w, "automation "+a.Name+" as it is written:")
		text(w, a.Text)
	}
	for _, s := range p.Knowledge {
		for _, i := range s.Items {
			fmt.Fprintln(w, "knowledge "+kit.VisibleLine(s.Name)+", "+kit.VisibleLine(i.Key)+":")
			text(w, i.Body)
		}
	}
}
