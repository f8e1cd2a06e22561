package repo

// Matcher chooses paths. Filesets are matchers; so are the ones here.
type Matcher interface {
	// Match says whether the file at a path is meant.
	Match(Path) bool
	// Visit says whether anything below a directory may be meant.
	Visit(dir Path) bool
}

// Everything matches all paths.
type Everything struct{}

// Match is always true.
func (Everything) Match(Path) bool { return true }

// Visit is always true.
func (Everything) Visit(Path) bool { return true }

// Nothing matches no path.
type Nothing struct{}

// Match is always false.
func (Nothing) Match(Path) bool { return false }

// Visit is always false.
func (Nothing) Visit(Path) bool { return false }

// Prefixes matches the paths given and everything below them.
type Prefixes []Path

// Match says whether a prefix is the path or a directory above it.
func (m Prefixes) Match(p Path) bool {
	for _, prefix := range m {
		if prefix.Contains(p) {
			return true
		}
	}
	return false
}

// Visit says whether a prefix lies above, at or below a directory.
func (m Prefixes) Visit(dir Path) bool {
	for _, prefix := range m {
		if prefix.Contains(dir) || dir.Contains(prefix) {
			return true
		}
	}
	return false
}

// Without matches what Keep does and Drop does not.
type Without struct{ Keep, Drop Matcher }

// Match says whether a path is kept and not dropped.
func (m Without) Match(p Path) bool { return m.Keep.Match(p) && !m.Drop.Match(p) }

// Visit says whether anything may be kept.
func (m Without) Visit(dir Path) bool { return m.Keep.Visit(dir) }
