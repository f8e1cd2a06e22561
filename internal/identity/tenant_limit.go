package identity

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// TenantLimits is what the house lets a tenant use up. Zero is no limit.
type TenantLimits struct {
	Cents    int64     `json:"cents,omitempty" jsonschema:"what its models may cost in a period, in hundredths of a US dollar"`
	Period   string    `json:"period,omitempty" jsonschema:"the period of the cents: day, month or ever"`
	Sessions int64     `json:"sessions,omitempty" jsonschema:"how many sessions it keeps, archived ones too"`
	Bytes    int64     `json:"bytes,omitempty" jsonschema:"how many bytes it keeps in the database: sessions, artifacts, memory, keys and all else"`
	SetBy    string    `json:"set_by,omitempty"`
	SetAt    time.Time `json:"set_at,omitzero"`
}

// None reports that nothing is limited.
func (l TenantLimits) None() bool { return l.Cents == 0 && l.Sessions == 0 && l.Bytes == 0 }

// text is how they are kept and vouched for.
func (l TenantLimits) text() string {
	if l.None() {
		return ""
	}
	data, err := json.Marshal(l)
	if err != nil {
		panic(err) // numbers and words
	}
	return string(data)
}

func parseLimits(text string) (l TenantLimits, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &l)
	}
	return l, err
}

// TenantUse is what a tenant used of what can be limited.
type TenantUse struct {
	Cost     int64 `json:"cost_nano_usd" jsonschema:"what its models cost in the period of the limit, ever where there is none"`
	Sessions int64 `json:"sessions"`
	Bytes    int64 `json:"bytes" jsonschema:"about how many bytes it keeps, some seconds ago at most"`
}

// TenantLimitIn sets what a tenant may use up.
type TenantLimitIn struct {
	Name     string `json:"name" jsonschema:"the tenant's name or id"`
	Cents    *int64 `json:"cents,omitempty" jsonschema:"hundredths of a US dollar; 0 for no limit, as it was when left out"`
	Period   string `json:"period,omitempty" jsonschema:"the period of the cents: day, month or ever (the default)"`
	Sessions *int64 `json:"sessions,omitempty" jsonschema:"how many sessions it keeps; 0 for no limit, as it was when left out"`
	Bytes    *int64 `json:"bytes,omitempty" jsonschema:"how many bytes it keeps; 0 for no limit, as it was when left out"`
	tenantID
}

// maxLimit bounds what is said as a limit of cents and sessions, maxBytes as one of bytes.
const maxLimit, maxBytes = 100_000_000_000, 100_000_000_000_000

// Check refuses limits that mean nothing.
func (in TenantLimitIn) Check() error {
	bad := func(what string) error { return fault.New(fault.Invalid, string(TenantLimit), "%s", what) }
	if in.Cents == nil && in.Sessions == nil && in.Bytes == nil {
		return bad("say what is limited: cents, sessions, bytes")
	}
	for _, n := range []*int64{in.Cents, in.Sessions} {
		if n != nil && (*n < 0 || *n > maxLimit) {
			return bad("a limit lies between 0, which is none, and " + strconv.Itoa(maxLimit))
		}
	}
	if n := in.Bytes; n != nil && (*n < 0 || *n > maxBytes) {
		return bad("a limit of bytes lies between 0, which is none, and " + strconv.FormatInt(maxBytes, 10))
	}
	switch in.Period {
	case "", "day", "month", "ever":
	default:
		return fault.New(fault.Invalid, string(TenantLimit), "period is day, month or ever, not %.40q", in.Period)
	}
	if in.Period != "" && (in.Cents == nil || *in.Cents == 0) {
		return bad("a period goes with cents")
	}
	return nil
}

func (r *Room) limitTenant(ctx context.Context, tx *db.Tx, in TenantLimitIn) (*Tenant, error) {
	t, err := r.another(ctx, tx, string(TenantLimit), in.ref(in.Name), "limit its people instead: tandem budget set")
	if err != nil {
		return nil, err
	}
	l := &t.Limits
	if in.Cents != nil {
		l.Cents, l.Period = *in.Cents, in.Period
	}
	switch {
	case l.Cents == 0:
		l.Period = ""
	case l.Period == "":
		l.Period = "ever"
	}
	if in.Sessions != nil {
		l.Sessions = *in.Sessions
	}
	if in.Bytes != nil {
		l.Bytes = *in.Bytes
	}
	if l.SetBy, l.SetAt = byHouse(ctx), tx.Now(); l.None() {
		*l = TenantLimits{}
	}
	if _, err := tx.Exec("UPDATE tenant SET limits = ? WHERE id = ?", l.text(), t.ID); err != nil {
		return nil, err
	}
	op.Note(ctx, "tenant", t.ID)
	op.Note(ctx, "name", t.Name)
	op.Row(ctx, t.Seal())
	inside, notes := r.within(ctx, t.ID)
	op.Note(inside, "limits", *l)
	return t, r.Told(inside, tx, string(TenantLimit), notes)
}

// Limits is a tenant's name and what it may use up, read by the transaction or the database whose row it is.
func (r *Room) Limits(row func(query string, args ...any) *sql.Row, tenant string) (name string, l TenantLimits, err error) {
	if tenant == LocalTenant {
		return tenant, l, nil
	}
	var text string
	if err := row("SELECT name, limits FROM tenant WHERE id = ?", tenant).Scan(&name, &text); err != nil {
		return "", l, err
	}
	l, err = parseLimits(text)
	return name, l, err
}

// use adds what a tenant used of what it may.
func (r *Room) use(ctx context.Context, t *Tenant) error {
	if r.Uses == nil {
		return nil
	}
	used, err := r.Uses(ctx, t.ID, t.Limits.Period)
	t.Use = &used
	return err
}

// NanoOfCent is how many billionths of a US dollar a cent has.
const NanoOfCent = 10_000_000

// ParseMoney reads money as people write it, in cents: 20usd, 0.5usd; none is 0.
func ParseMoney(text string) (cents int64, err error) {
	if text == "none" {
		return 0, nil
	}
	number, ok := strings.CutSuffix(text, "usd")
	n, wrong := strconv.ParseFloat(number, 64)
	if !ok || wrong != nil || !(n >= 0.01 && n <= maxLimit/100) {
		return 0, fault.New(fault.Invalid, string(TenantLimit), "%.40q is no money", text).WithNext("write 20usd, 0.5usd or none")
	}
	return int64(n*100 + 0.5), nil
}

// Money writes cents as people do.
func Money(cents int64) string { return strconv.FormatFloat(float64(cents)/100, 'f', -1, 64) + "usd" }

// units are how storage is written, the largest first.
var units = []struct {
	word string
	of   int64
}{{"tb", 1e12}, {"gb", 1e9}, {"mb", 1e6}, {"kb", 1e3}}

// ParseStorage reads bytes as people write them: 500mb, 2gb, 1.5tb; none is 0.
func ParseStorage(text string) (int64, error) {
	if text == "none" || text == "0" {
		return 0, nil
	}
	for _, u := range units {
		number, ok := strings.CutSuffix(strings.ToLower(text), u.word)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if b := n * float64(u.of); err == nil && b >= 1000 && b <= maxBytes {
			return int64(b), nil
		}
		break
	}
	return 0, fault.New(fault.Invalid, string(TenantLimit), "%.40q is no amount of storage", text).WithNext("write 500mb, 2gb or none")
}

// Storage writes bytes as people do.
func Storage(n int64) string {
	for _, u := range units {
		if n >= u.of {
			return strconv.FormatFloat(float64(n*10/u.of)/10, 'f', -1, 64) + u.word
		}
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
