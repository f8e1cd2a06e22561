package owner

import (
	"fmt"

	"tandem/internal/fault"
)

// refuse is said to a server that finds another one living which it does not work together with.
func (c *Claim) refuse(s Server) error {
	if c.Cluster == s.Cluster { // both are alone
		next := "stop it there (tandem down), then start here; if its machine is gone, start again"
		if !s.Until.IsZero() {
			next += fmt.Sprintf(" after its lease, %s from its last word; to serve from both, give this machine the keys "+
				"(there: tandem server key copy PATH), then start both with: tandem up --cluster NAME", Lease)
		}
		return fault.New(fault.Conflict, "server", "another server works with this database: %s; two would undo each other's work", s).
			WithNext("%s", next)
	}
	switch {
	case s.Cluster == "":
		return fault.New(fault.Conflict, "server", "another server works with this database, and for no cluster: %s", s).
			WithNext("start that one anew as one of the cluster, then this one: tandem up --replace --cluster %s", c.Cluster)
	case c.Cluster == "":
		return fault.New(fault.Conflict, "server", "servers of the cluster %s work with this database: %s", s.Cluster, s).
			WithNext("to be one of them: tandem up --cluster %s", s.Cluster)
	}
	return fault.New(fault.Conflict, "server", "servers of another cluster work with this database, %s and not %s: %s",
		s.Cluster, c.Cluster, s).
		WithNext("to be one of them: tandem up --cluster %s", s.Cluster)
}

// together says whether another server is one of the same cluster.
func (c *Claim) together(s Server) bool {
	return c.Cluster != "" && c.Cluster == s.Cluster && c.Lease > 0
}
