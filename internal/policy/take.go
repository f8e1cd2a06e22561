package policy

import "path"

// Takes says whether the caller may have a path of a checkout to itself, with all that lies below it: nothing of that is kept from the
// caller. By the answers to patterns the names of what is denied could be found, so whoever is denied anything of the checkout takes files
// and folders by their names alone. Keys that the house keeps lie anywhere, and stop nobody from taking the folder around them.
func (s *Sight) Takes(root, plain, pattern string, repository ResourceRef) bool {
	at := path.Join(root, plain)
	return !s.Kept(at, repository) && (s.Whole(root, repository) || pattern == "" && s.Whole(at, repository))
}

// Tells says whether the caller may hear what somebody else has to itself. A pattern may name what is denied, unless it is all of a folder.
func (s *Sight) Tells(root, plain, pattern string, repository ResourceRef) bool {
	return !s.Kept(path.Join(root, plain), repository) && (pattern == "" || pattern == "*" || pattern == "**" || s.Whole(root, repository))
}
