// Package wire is what the operations of the server itself take and answer, as far as doors and commands read it, with their
// handles. It holds no service.
package wire

import (
	"fmt"
	"time"

	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/settings"
)

// The operations that tell about the server, and that change its settings.
const (
	ServerSettings = op.Def[identity.Nothing, SettingsOut]("server.settings")
	ServerStatus   = op.Def[identity.Nothing, Status]("server.status")
	SettingSet     = op.Def[SetIn, identity.OK]("setting.set")
)

// Status is the running server.
type Status struct {
	Running    bool     `json:"running"`
	PID        int      `json:"pid"`
	Uptime     int64    `json:"uptime_secs"`
	Repo       string   `json:"repo"`
	Repos      []string `json:"repos"`
	Listen     string   `json:"listen"`
	Listens    []string `json:"listens"`
	Address    string   `json:"address,omitempty" jsonschema:"where other machines find it, HOST:PORT; any name or address that leads there will do"`
	Version    string   `json:"version"`
	Key        string   `json:"fingerprint,omitempty" jsonschema:"of the TLS key, when it listens beyond this machine"`
	OnDemand   bool     `json:"on_demand" jsonschema:"started by a command that needed it; it ends when idle"`
	Waiting    int      `json:"unconfirmed,omitempty" jsonschema:"rows that confer authority and wait for a person's word: tandem audit confirm"`
	CameBack   bool     `json:"came_back" jsonschema:"started by a command after a crash, and listening where the one before did"`
	Closed     []string `json:"not_reopened,omitempty" jsonschema:"where it listened before the crash and does not now, because no person approved that this outlives a start"`
	Left       []string `json:"listened_before,omitempty" jsonschema:"where it listened before it was stopped in order, and does not since, because nobody said so"`
	Taken      *Taken   `json:"taken,omitempty" jsonschema:"the port that it would have listened on, and who has it"`
	Unit       string   `json:"unit,omitempty" jsonschema:"the unit of systemd that it is"`
	Control    string   `json:"control,omitempty" jsonschema:"the command that speaks to that unit's manager"`
	Shared     []Served `json:"shared,omitempty" jsonschema:"repositories that another server of this machine serves, too"`
	Install    string   `json:"installation" jsonschema:"the identity that the data folder, the database and the keys share"`
	Data       string   `json:"data"`
	Database   string   `json:"database"`
	Events     int64    `json:"events" jsonschema:"entries in the journal"`
	Panel      string   `json:"panel"`
	Elsewhere  string   `json:"panel_elsewhere,omitempty" jsonschema:"where other machines and phones reach the panel"`
	Sandbox    string   `json:"sandbox" jsonschema:"what confines the commands of sessions with models: bwrap, landlock, seatbelt or none"`
	SandboxWhy string   `json:"sandbox_why,omitempty" jsonschema:"why it is not a better one"`
	Told       []Told   `json:"told" jsonschema:"on which ways people hear that something needs them"`
	Server     Serving  `json:"server" jsonschema:"this server among those that worked with its database"`
	PIN        bool     `json:"pin_set" jsonschema:"whether presence can be proven, so that asks can be decided"`
}

// Taken is a port that another program has.
type Taken struct {
	Address string `json:"address"`
	PID     int    `json:"pid,omitempty" jsonschema:"where it can be seen"`
	Program string `json:"program,omitempty"`
}

// Holder names who has it.
func (t *Taken) Holder() string {
	if t.PID == 0 {
		return "another program"
	}
	return fmt.Sprintf("PID %d (%s)", t.PID, t.Program)
}

// Told is a way on which people hear that something needs them.
type Told struct {
	Way  string `json:"way" jsonschema:"events.log, webhook, ntfy or desktop"`
	Env  string `json:"env,omitempty" jsonschema:"the variable that sets it up"`
	Ends bool   `json:"ends,omitempty" jsonschema:"it was set for this start alone: the next one does not have it"`
}

// Serving is the server's own row.
type Serving struct {
	ID    string    `json:"id"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	Fence int64     `json:"fence" jsonschema:"higher for every later start on this database"`
	Lease float64   `json:"lease_secs,omitempty" jsonschema:"how long it counts as living after its last word"`
	// Cluster is what it says to serve its database together with others.
	Cluster string `json:"cluster,omitempty" jsonschema:"the servers that say this name serve one database together"`
	// Others are the cluster's other servers: those that live, and those that are gone without having been stopped.
	Others []Fellow `json:"others,omitempty"`
}

// Served is a repository that another server of this machine has.
type Served struct {
	Path string `json:"path"`
	Data string `json:"data" jsonschema:"that server's data folder"`
	PID  int    `json:"pid"`
}

// Fellow is another server of the cluster.
type Fellow struct {
	Host  string    `json:"host"`
	Data  string    `json:"data" jsonschema:"its data folder"`
	Since time.Time `json:"since" jsonschema:"when it started"`
	Gone  time.Time `json:"gone,omitzero" jsonschema:"when it was found to have ended without being stopped"`
}

// SettingsOut lists every setting with its origin.
type SettingsOut struct {
	Settings []settings.Value `json:"settings"`
}

// SetIn changes a setting.
type SetIn struct {
	Key   string `json:"key" jsonschema:"the setting's key, e.g. log.level"`
	Value string `json:"value" jsonschema:"its new value; empty removes it from config.toml"`
}

// Check refuses what cannot be set, before anybody is asked about it.
func (in SetIn) Check() error { return settings.CheckChange(in.Key, in.Value) }

// Resource keeps the settings that guard this machine apart: the default grants
// have a program's change of one wait for a person.
func (in SetIn) Resource() op.Resource {
	path := "/" + in.Key
	if s := settings.Known(in.Key); s != nil && s.Guard {
		path = "/guard/" + in.Key
	}
	return op.Resource{Kind: "setting", Path: path}
}
