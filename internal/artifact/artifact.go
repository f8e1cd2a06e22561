package artifact

import (
	"fmt"
	"regexp"
	"strings"

	"tandem/internal/artifact/wire"
	"tandem/internal/op"
)

// How much is kept.
const (
	MaxBody  = 4 << 20   // of one artifact
	maxAll   = 512 << 20 // of a tenant, each body counted once
	maxText  = 256 << 10 // that is shown at once
	versions = 100       // of one name: older ones go
)

// ends are the kinds, and how a file of each ends.
var ends = map[string]string{"markdown": ".md", "html": ".html", "pptx": ".pptx", "csv": ".csv", "json": ".json"}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*){2}(\.[0-9]{1,5})?$`)

// nameOf is what a step's output is called: one name for all runs, so that its makings are versions.
func nameOf(in wire.KeepIn) string {
	name := in.Automation + "." + in.Node + "." + in.Output
	if in.Item > 0 {
		name += fmt.Sprintf(".%d", in.Item)
	}
	return name
}

// At is the resource of an artifact's name.
func At(name string) op.Resource {
	return op.Resource{Kind: "artifact", Path: "/" + strings.ReplaceAll(name, ".", "/")}
}

// file is a name under which a version can be saved.
func file(a *wire.Artifact) string { return fmt.Sprintf("%s-%d%s", a.Name, a.Version, ends[a.Kind]) }

// readable reports whether the bytes of a kind are text.
func readable(kind string) bool { return kind != "pptx" }
