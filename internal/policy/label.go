package policy

import (
	"slices"

	"tandem/internal/spelling"
)

// Label says which class of data lies in a tree. Where several do, the one nearest to the resource counts.
type Label struct {
	Resource ResourceRef `json:"resource"`
	Class    DataClass   `json:"class"`
}

// native is the class of a kind that nobody labelled; of every other kind it is internal.
var native = map[ResourceKind]DataClass{KindFolder: SourceCode, KindRepo: SourceCode, KindWorkspace: SourceCode}

// everyday says whether a grant that names no class covers this one: what nobody called sensitive.
func (c DataClass) everyday() bool { return c == Public || c == Internal || c == SourceCode }

// classOf is the class of what lies at r; labelled says that a person said so. also are the classes of labels that are nearer to a file
// by another spelling of its path: whoever reads it may read those, too.
func (c *Compiled) classOf(r ResourceRef) (class DataClass, also []DataClass, labelled bool) {
	class, nearest := native[r.Kind], -1
	if class == "" {
		class = Internal
	}
	for i := range c.labels {
		l := &c.labels[i]
		if (l.Resource.Kind != AnyKind && l.Resource.Kind != r.Kind) || len(l.Resource.Path) <= nearest || below(l.Resource.Path, r.Path) < 0 {
			continue
		}
		class, labelled, nearest = l.Class, true, len(l.Resource.Path)
	}
	if r.Kind == KindFolder && len(c.labels) > 0 {
		also = c.spelledLabels(r)
		labelled = labelled || len(also) > 0
		also = slices.DeleteFunc(also, func(a DataClass) bool { return a == class })
	}
	return class, also, labelled
}

// Everyday reports whether nobody called what lies at a resource more than everyday: public, internal or source code.
func (c *Compiled) Everyday(r ResourceRef) bool {
	if c == nil {
		return false
	}
	class, also, _ := c.classOf(r)
	return class.everyday() && !slices.ContainsFunc(also, func(a DataClass) bool { return !a.everyday() })
}

// spelledLabels are the classes of the nearest labels by any spelling; none where one of those names the path as it is.
func (c *Compiled) spelledLabels(r ResourceRef) (out []DataClass) {
	low, nearest, named := spelling.Folded(r.Path), -1, false
	for i, l := range c.labels {
		if (l.Resource.Kind != AnyKind && l.Resource.Kind != r.Kind) || len(c.lows[i]) < nearest || below(c.lows[i], low) < 0 {
			continue
		}
		if len(c.lows[i]) > nearest {
			out, nearest, named = nil, len(c.lows[i]), false
		}
		out, named = append(out, l.Class), named || below(l.Resource.Path, r.Path) >= 0
	}
	if named {
		return nil
	}
	return out
}

func checkLabels(labels []Label, tenant string) error {
	for _, l := range labels {
		scope := ResourceScope{Root: l.Resource}
		if err := scope.check(tenant); err != nil {
			return err
		}
		if !knownClass[l.Class] {
			return malformed("there is no data class called %q", l.Class)
		}
	}
	return nil
}
