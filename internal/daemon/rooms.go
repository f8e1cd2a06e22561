package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"tandem/internal/approval"
	"tandem/internal/artifact"
	"tandem/internal/automation"
	"tandem/internal/board"
	"tandem/internal/connector"
	"tandem/internal/contextrun"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/forge"
	"tandem/internal/gate"
	"tandem/internal/httpapi"
	"tandem/internal/identity"
	"tandem/internal/inbox"
	"tandem/internal/installation"
	"tandem/internal/job"
	"tandem/internal/journal"
	"tandem/internal/knowledge"
	"tandem/internal/login"
	"tandem/internal/memory"
	"tandem/internal/models"
	"tandem/internal/notify"
	"tandem/internal/notify/occasion"
	"tandem/internal/op"
	owners "tandem/internal/owner"
	"tandem/internal/pack"
	"tandem/internal/policy"
	"tandem/internal/policy/book"
	"tandem/internal/remote"
	"tandem/internal/repo/host"
	"tandem/internal/repo/kin"
	"tandem/internal/resource"
	"tandem/internal/schedule"
	"tandem/internal/secret"
	"tandem/internal/server/health"
	"tandem/internal/session"
	"tandem/internal/session/loop"
	relays "tandem/internal/session/relay"
	"tandem/internal/session/terminal"
	sources "tandem/internal/source"
	"tandem/internal/space"
	"tandem/internal/space/peer"
	"tandem/internal/team"
	"tandem/internal/tenancy"
	"tandem/internal/tunnel"
	"time"
)

// migrations are all rooms' tables, in the order they may depend on each other.
var migrations = []db.Migrations{
	installation.Migrations,
	owners.Migrations,
	journal.Migrations,
	secret.Migrations,
	identity.Migrations,
	book.Migrations,
	approval.Migrations,
	gate.Migrations,
	resource.Migrations,
	space.Migrations,
	board.Migrations,
	peer.Migrations,
	session.Migrations,
	connector.Migrations,
	host.Migrations,
	terminal.Migrations,
	relays.Migrations,
	notify.Migrations,
	tunnel.Migrations,
	schedule.Migrations,
	job.Migrations,
	forge.Migrations,
	team.Migrations,
	automation.Migrations,
	artifact.Migrations,
	pack.Migrations,
	memory.Migrations,
	sources.Migrations,
	knowledge.Migrations,
	contextrun.Migrations,
	login.Migrations,
}

// rooms are what the daemon built and must keep in hand.
type rooms struct {
	approval   *approval.Room
	book       *book.Book
	resource   *resource.Room
	secret     *secret.Room
	space      *space.Room
	board      *board.Room
	peer       *peer.Room
	models     *models.Room
	session    *session.Room
	connector  *connector.Room
	loop       *loop.Runner
	repo       *host.Host
	remotes    *remote.Remotes
	terminal   *terminal.Driver
	relay      *relays.Runner
	notify     *notify.Notifier
	tell       *occasion.Teller
	tunnel     *tunnel.Room
	schedule   *schedule.Room
	job        *job.Room
	forge      *forge.Room
	team       *team.Room
	automation *automation.Room
	artifact   *artifact.Room
	memory     *memory.Room
	source     *sources.Room
	knowledge  *knowledge.Room
	context    *contextrun.Room
	login      *login.Room
	scales     *tenancy.Scales
	eraser     *tenancy.Eraser
}

// construct builds every room once and puts its operations into the table.
func (d *Daemon) construct(ctx context.Context) error {
	key, err := journal.Key(filepath.Join(d.data, "journal.key"))
	if err != nil {
		return err
	}
	d.journal = journal.New(d.db, key)
	d.forgot = make(chan struct{}, 1)
	d.health = health.New(health.House{DB: d.db, Journal: d.journal, Data: d.data, Keepers: d.keepers, Log: d.Log, System: d.system(),
		Elder: d.self.Elder, Sweep: d.sweepAll,
		Slow: func() time.Duration { return time.Duration(d.live().Int("slow_ms")) * time.Millisecond }})
	d.journal.Forgot = d.forgotten
	if d.identity, err = identity.New(ctx, d.db); err != nil {
		return err
	}
	d.identity.Wrong = d.wrongPIN
	d.identity.Server = d.kept.ID
	if err := d.settleMode(); err != nil {
		return err
	}
	var table op.Table
	d.rooms.book = book.New(d.db, d.who, func(name string) (book.Wants, bool) {
		if o := table.Get(name); o != nil {
			return book.Wants{Right: o.Right, People: o.People, Present: o.Present, Socket: o.Socket}, true
		}
		return book.Wants{}, false
	})
	d.rooms.book.Narrowed = d.narrowedBy
	d.identity.Waits, d.identity.Owners, d.rooms.book.Able = d.waits, d.rooms.book.Owners, d.identity.Able
	d.rooms.book.Acts, d.rooms.book.Keeps = d.acts, keptFrom
	d.identity.Own, d.identity.Told = d.rooms.book.FirstOwner, d.tenantTold
	d.rooms.approval = approval.New(d.db, d.answerGuards())
	d.rooms.approval.Called = func(ctx context.Context, tenant, id string) string { return d.rooms.session.Called(ctx, tenant, id) }
	if err := tenancy.LeftOnTheWay(d.data); err != nil {
		d.Log.Warn("remove what is left of a tenant that came or went", "err", err)
	}
	if err := d.recallSeals(ctx); err != nil {
		return err
	}
	if d.rooms.secret, err = secret.New(ctx, d.db, d.keepers, d.redact, d.journal.Holds); err != nil {
		return err
	}
	d.rooms.secret.Reserve(ownTokens, remote.Tokens, phoneSecrets)
	d.rooms.secret.Reserve(slices.Concat(models.Secrets, connector.Secrets, login.Secrets, automation.Secrets, forge.Secrets)...)
	if err := d.keepTokens(ctx); err != nil {
		return err
	}
	if err := d.firstPIN(ctx); err != nil {
		return err
	}
	d.rooms.resource = resource.New(d.db)
	d.rooms.knowledge = knowledge.New(d.db)
	d.rooms.knowledge.Forgot, d.rooms.knowledge.Vouch = d.forgotten, d.journal.Vouch()
	d.rooms.context = contextrun.New(d.db)
	d.rooms.context.Forgot = d.forgotten
	d.rooms.login = login.New(d.db, d.rooms.secret)
	d.rooms.login.Vouch = d.journal.Vouch()
	d.makeRemotes(ctx)
	spaces, err := d.makeSpaces(ctx)
	if err != nil {
		return err
	}
	if err := d.buildSessions(ctx); err != nil {
		return err
	}
	d.makeMemory()
	d.briefSessions()
	d.makeSources()
	d.buildTunnel()
	d.makeSchedules()
	d.makeAutomations(&table)
	d.makeTenancy()
	if err := d.openRepos(ctx); err != nil {
		return err
	}
	if err := d.fill(&table, spaces); err != nil {
		return err
	}
	if _, err := d.rooms.book.Policy(ctx, identity.LocalTenant); err != nil {
		return err // a server whose policy cannot be read would refuse everybody; better to say so now
	}
	d.gate = gate.New(&table, d.db, d.journal, d.policies, d.rooms.approval, d.guards(), d.Log)
	d.inner.Set(d.gate)
	d.gate.Redact, d.gate.Server = d.redact, d.self.ID
	for _, o := range table.All() {
		d.redact.Ours(o.Name, o.ToolName(), o.Right)
	}
	d.rooms.loop.Through(d.gate, d.journal)
	d.rooms.terminal.Through(d.gate, d.journal)
	return d.openDoors()
}

// fill puts the operations of every room into the table, each with a right that the policy knows.
func (d *Daemon) fill(table *op.Table, spaces []op.Op) error {
	for _, ops := range [][]op.Op{
		d.ops(), d.phoneOps(),
		d.backupOps(),
		d.rotateOps(),
		d.keyOps(),
		httpapi.Ops(),
		d.journal.Ops(),
		d.identity.Ops(),
		d.rooms.secret.Ops(),
		d.rooms.book.Ops(),
		d.rooms.approval.Ops(),
		d.rooms.resource.Ops(),
		d.rooms.memory.Ops(),
		d.rooms.source.Ops(),
		d.rooms.knowledge.Ops(),
		spaces,
		d.rooms.models.Ops(),
		d.rooms.session.Ops(),
		d.rooms.connector.Ops(),
		d.rooms.loop.Ops(),
		d.rooms.repo.Ops(),
		d.rooms.remotes.Ops(),
		d.rooms.terminal.Ops(),
		d.rooms.relay.Ops(),
		d.rooms.tunnel.Ops(),
		d.rooms.schedule.Ops(),
		d.rooms.job.Ops(),
		d.rooms.forge.Ops(),
		d.rooms.team.Ops(),
		d.rooms.automation.Ops(),
		d.rooms.artifact.Ops(),
		d.rooms.context.Ops(),
		d.makePacks().Ops(),
		d.rooms.login.Ops(),
		inbox.New(&d.inner, d.answerURL, d.db.Now).Ops(),
	} {
		if err := table.Add(ops...); err != nil {
			return err
		}
	}
	for _, o := range table.All() {
		if _, err := policy.ParseRight(o.Right); err != nil && !o.Public {
			return fmt.Errorf("operation %s: %w", o.Name, err)
		}
	}
	return nil
}

// guards are what the gate asks beside the policy.
func (d *Daemon) guards() gate.Guards {
	return gate.Guards{Narrowed: d.narrowed, Keep: d.identity.KeepNarrowing, Caution: d.caution, Still: d.identity.Still,
		Whose: d.whose, Kin: new(kin.Finder).Of,
		Past: func(name string) bool { return d.restored != nil && name != string(ServerBackup) }} // a copy holds the intent of its own making
}

// who finds an actor for the policy: what it is, and for whom it acts. A session is one, too, for whoever may read it.
func (d *Daemon) who(ctx context.Context, tenant, name string) (policy.PrincipalRef, []policy.PrincipalRef, error) {
	c, err := d.identity.Caller(ctx, tenant, name, op.DoorInside)
	if fault.Is(err, fault.NotFound) && op.May(ctx, "session.read", op.Resource{Kind: "session", Path: "/" + name}) {
		if s, gone := d.rooms.session.Get(ctx, tenant, name); gone == nil {
			c, err = s.Caller(), nil
		}
	}
	if err != nil {
		return policy.PrincipalRef{}, nil, err
	}
	var chain []policy.PrincipalRef
	for _, f := range c.For {
		p, err := policy.ParsePrincipal(f)
		if err != nil {
			return policy.PrincipalRef{}, nil, err
		}
		chain = append(chain, p)
	}
	return policy.PrincipalRef{Kind: policy.PrincipalKind(c.Kind), ID: c.Name}, chain, nil
}

// lookedBack is how many of an actor's newest acts are looked through for the last use of a grant.
const lookedBack = 200

// acts are the newest things that an actor did, for who looks at what is used.
func (d *Daemon) acts(ctx context.Context, tenant, actor string) (out []book.Act, err error) {
	all, err := d.journal.Acts(ctx, tenant, actor, lookedBack)
	for _, a := range all {
		out = append(out, book.Act(a))
	}
	return out, err
}
