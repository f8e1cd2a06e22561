package wire

import (
	"regexp"
	"strings"
)

var branchName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+-]{0,199}$`)

// Branch says whether a name can be that of a branch that jobs are for.
func Branch(name string) bool { return branchName.MatchString(name) && !strings.Contains(name, "..") }
