package policy

import (
	"slices"
	"strings"
	"sync"

	"tandem/internal/spelling"
)

// Seen is what a caller may do with one file or folder. The zero Seen may be read and changed.
type Seen struct {
	// Hidden says that it is not there for the caller: reading it is denied, or the tool may not touch it.
	Hidden bool
	// Asks is the grant or rule that wants an approval before it is read; "" when none does.
	Asks string
	// Fixed says that it may not be changed without an approval that somebody wished for on purpose.
	Fixed bool
	// By is the grant or rule that hides or fixes it.
	By string
}

// House says that nobody but the house's own defaults decided so.
func (s Seen) House() bool { return strings.HasPrefix(s.By, "grant:default-") }

// Sight answers for thousands of files of a folder what Decide would answer for each: searches, sandboxes and whatever shows the
// content of files ask it, so that a denial or a label holds for every way to a file.
//
// Most files of a folder get the same answer. Places where it can change (roots of grants, labels, rules) are edges; a file whose
// path could fit no glob is answered like every other below its nearest edge.
type Sight struct {
	view  *View
	tool  string
	edges map[string]bool
	lows  map[string]bool // the edges, folded: a denial holds for every spelling
	ends  map[string]bool // the last words of those
	words map[string]bool // what a folded component has to be for some glob to fit
	wild  []string
	slow  bool // a rule or a depth speaks of each path by itself
	kin   Kin
	real  func(path string) string
	// written are roots by the path that a person wrote for them.
	written map[string]string
	globs   bool // a person's denial speaks of a pattern of paths, or a rule of each path
	// patterns are the denials of people that name files to be looked at by a pattern.
	patterns []*grant

	mu      sync.Mutex
	regions map[string]Seen
	fits    map[string]fitting
	folders map[string]string
	roots   map[string]bool // checkouts that were met
}

// fitting is what a component of a path may be: part of what some glob fits, or the end of an edge.
type fitting struct{ glob, edge bool }

// maxFits bounds what a Sight remembers of the names of files.
const maxFits = 8192

// Sight is what the caller sees of folders with a tool; "" is looking without any. kin may be nil where there are no repositories, and
// real, which says where a path leads, where there are no links.
func (v *View) Sight(tool string, kin Kin, real func(path string) string) *Sight {
	if v == nil {
		return &Sight{slow: true}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := v.sights[tool]; s != nil {
		return s
	}
	s := v.newSight(tool)
	s.kin, s.real = kin, real
	if v.sights == nil || len(v.sights) >= maxSights {
		v.sights = map[string]*Sight{}
	}
	v.sights[tool] = s
	return s
}

const maxSights = 32

func (v *View) newSight(tool string) *Sight {
	s := &Sight{view: v, tool: tool, edges: map[string]bool{"/": true}, words: map[string]bool{}, regions: map[string]Seen{},
		fits: map[string]fitting{}, lows: map[string]bool{}, ends: map[string]bool{}, folders: map[string]string{},
		written: map[string]string{}}
	s.slow = v.policy == nil || v.ctx.Ceiling != nil || len(v.narrowed) > 0
	if v.policy == nil {
		return s
	}
	for _, l := range v.policy.labels {
		s.root(l.Resource)
	}
	for _, n := range v.narrowed {
		s.open(&drawer{denies: n.denies})
		for _, g := range n.within() {
			s.learn(g)
		}
	}
	asked := kindMask(KindFolder)
	if tool != "" {
		asked |= kindMask(KindTool)
	}
	for _, m := range slices.Concat(v.members, v.prompters) {
		for k := range m.drawers {
			if asked&(1<<k) != 0 {
				s.open(&m.drawers[k])
			}
		}
	}
	for e := range s.edges {
		low := spelling.Folded(e)
		s.lows[low], s.ends[low[strings.LastIndexByte(low, '/')+1:]] = true, true
	}
	return s
}

// open notes where the grants and rules of a drawer may change the answer.
func (s *Sight) open(d *drawer) {
	s.globs = s.globs || slices.ContainsFunc(d.denies, func(g *grant) bool {
		return !strings.HasPrefix(g.by, "grant:default-") && (len(g.only) > 0 || len(g.tools) > 0)
	})
	s.globs = s.globs || slices.ContainsFunc(d.forbids, func(r *rule) bool { return r.placed && r.actions&(bit(CanView)|bit(CanRead)) != 0 })
	for _, g := range d.denies {
		if !strings.HasPrefix(g.by, "grant:default-") && len(g.only) > 0 && g.perms&(bit(CanView)|bit(CanRead)) != 0 {
			s.patterns = append(s.patterns, g)
		}
	}
	for _, g := range slices.Concat(d.denies, d.gives[0], d.gives[1], d.gives[2]) {
		s.learn(g)
	}
	for _, r := range slices.Concat(d.forbids, d.asks, d.permits) {
		s.edges[r.root] = true
		s.slow = s.slow || r.exact || r.placeBound
	}
}

// root notes the root of a tree that policy speaks of.
func (s *Sight) root(r ResourceRef) {
	s.edges[r.Path] = true
	if r.Written != "" {
		s.written[r.Written] = r.Path
	}
}

// learn notes where a grant, and those it hangs on, may change the answer.
func (s *Sight) learn(g *grant) {
	for ; g != nil; g = g.parent {
		s.root(g.Scope.Root)
		for _, h := range g.Scope.Denied {
			s.edges[h.Path] = true
		}
		s.slow = s.slow || g.Scope.MaxDepth != nil
		for _, o := range g.only {
			s.pattern(o)
		}
		for i := range g.tools {
			for _, p := range g.tools[i].paths {
				s.pattern(p)
			}
		}
		for _, b := range g.blockers {
			s.learn(b)
		}
	}
}

// pattern notes a glob: one that is a plain tree is an edge, of others the word that a path must hold.
func (s *Sight) pattern(g glob) {
	for i, w := range g { // the tree that it begins with may be reached through a link
		if strings.Contains(w, "*") {
			if i > 0 {
				s.edges["/"+strings.Join(g[:i], "/")] = true
			}
			break
		}
	}
	plain := len(g)
	for plain > 0 && g[plain-1] == "**" {
		plain--
	}
	if plain < len(g) && !slices.ContainsFunc(g[:plain], func(w string) bool { return strings.Contains(w, "*") }) {
		s.edges["/"+strings.Join(g[:plain], "/")] = true
		return
	}
	for i := len(g) - 1; i >= 0; i-- {
		switch w := g[i]; {
		case w == "*" || w == "**":
		case strings.Contains(w, "*"):
			s.wild = append(s.wild, spelling.Folded(w))
			return
		default:
			s.words[spelling.Folded(w)] = true
			return
		}
	}
	s.slow = true
}

// Of answers for one path: absolute, with slashes.
func (s *Sight) Of(path string) Seen {
	return s.of(path).and(s.elsewhere(path))
}

func (s *Sight) of(path string) Seen {
	if s.slow || !cleanPath(path) {
		return s.ask(path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	edge := s.edgeOf(path)
	if edge == "" {
		return s.ask(path)
	}
	seen, known := s.regions[edge]
	if !known {
		seen = s.ask(path)
		if len(s.regions) < maxFits {
			s.regions[edge] = seen
		}
	}
	return seen
}

// edgeOf is the edge at or above a path, as the path spells it, "" when some glob could fit the path. A folder is looked up once for all
// its files.
func (s *Sight) edgeOf(path string) string {
	if path == "/" {
		return path
	}
	i := strings.LastIndexByte(path, '/')
	fits := s.fit(path[i+1:])
	if fits.glob {
		return ""
	}
	if fits.edge && s.lows[spelling.Folded(path)] {
		if i > 0 && s.edgeOf(path[:i]) == "" {
			return ""
		}
		return path
	}
	folder := path[:max(i, 1)]
	edge, known := s.folders[folder]
	if !known {
		edge = s.edgeOf(folder)
		if len(s.folders) < maxFits {
			s.folders[folder] = edge
		}
	}
	return edge
}

// fit says what a path with this component could be.
func (s *Sight) fit(word string) fitting {
	fits, known := s.fits[word]
	if !known {
		low := spelling.Folded(word)
		fits = fitting{s.words[low] || slices.ContainsFunc(s.wild, func(w string) bool { return globWord(w, low) }), s.ends[low]}
		if len(s.fits) < maxFits {
			s.fits[word] = fits
		}
	}
	return fits
}

// Edges are the places at or below a folder where the answer may change although no name tells so.
func (s *Sight) Edges(folder string) []string {
	var out []string
	for e := range s.edges {
		if e := under(folder, e); e != "" {
			out = append(out, e)
		}
	}
	out = append(out, s.edgesElsewhere(folder)...)
	for _, a := range s.aliases() {
		if e := under(folder, a.name); e != "" {
			out = append(out, e)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// under is a place as it is named below a folder, "" when it does not lie there by any spelling.
func under(folder, p string) string {
	switch d := spelledBelow(folder, p); {
	case d <= 0:
		return ""
	case below(folder, p) > 0:
		return p
	default:
		parts := components(p)
		return strings.TrimSuffix(folder, "/") + "/" + strings.Join(parts[len(parts)-d:], "/")
	}
}

// ask puts the questions behind a path to the policy itself.
func (s *Sight) ask(path string) Seen {
	at := ResourceRef{Kind: KindFolder, Path: path}
	facts := &Facts{Paths: []string{path}}
	read := s.view.Decide(Request{Right: "folder.read", Resource: at, Tool: s.tool, Facts: facts})
	if read.Effect == Deny {
		return Seen{Hidden: true, By: read.By}
	}
	if s.tool != "" {
		if d := s.view.Decide(Request{Right: "tool.execute", Resource: ToolRef(s.tool), Tool: s.tool, Facts: facts}); d.Effect == Deny &&
			d.Code != CodeNoGrant {
			return Seen{Hidden: true, By: d.By}
		}
	}
	var seen Seen
	if read.Effect == Ask {
		seen.Asks = read.By
	}
	write := s.view.Decide(Request{Right: "folder.write", Resource: at, Tool: s.tool, Facts: facts})
	// What the house asks about by itself, a granted or approved command answers; a wish of a person's it does not.
	if write.Effect == Deny && write.Code != CodeNoGrant || write.Effect == Ask && !write.House() {
		seen.Fixed, seen.By = true, write.By
	}
	return seen
}
