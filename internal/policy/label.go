package policy

// Label says which class of data lies in a tree. Where several do, the one nearest to the resource counts.
type Label struct {
	Resource ResourceRef `json:"resource"`
	Class    DataClass   `json:"class"`
}

// native is the class of a kind that nobody labelled; of every other kind it is internal.
var native = map[ResourceKind]DataClass{KindFolder: SourceCode, KindRepo: SourceCode, KindWorkspace: SourceCode}

// everyday says whether a grant that names no class covers this one: what nobody called sensitive.
func (c DataClass) everyday() bool { return c == Public || c == Internal || c == SourceCode }

// classOf is the class of what lies at r; labelled says that a person said so.
func (c *Compiled) classOf(r ResourceRef) (class DataClass, labelled bool) {
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
	return class, labelled
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
