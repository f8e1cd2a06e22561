package policy

import "slices"

// ResourceKind is the sort of thing a grant speaks of. AnyKind covers them all.
type ResourceKind string

// The kinds that exist. A new room adds its noun here and nowhere else.
const (
	AnyKind        ResourceKind = "*"
	KindActor      ResourceKind = "actor"
	KindApproval   ResourceKind = "approval"
	KindArtifact   ResourceKind = "artifact"
	KindAutomation ResourceKind = "automation"
	KindBoard      ResourceKind = "board"
	KindConnector  ResourceKind = "connector"
	KindContext    ResourceKind = "context"
	KindFolder     ResourceKind = "folder"
	KindForge      ResourceKind = "forge"
	KindGrant      ResourceKind = "grant"
	KindJob        ResourceKind = "job"
	KindJoin       ResourceKind = "join"
	KindJournal    ResourceKind = "journal"
	KindKnowledge  ResourceKind = "knowledge"
	KindLogin      ResourceKind = "login"
	KindMemory     ResourceKind = "memory"
	KindNotify     ResourceKind = "notify"
	KindPolicy     ResourceKind = "policy"
	KindProvider   ResourceKind = "provider"
	KindRelay      ResourceKind = "relay"
	KindRepo       ResourceKind = "repo"
	KindResource   ResourceKind = "resource"
	KindSecret     ResourceKind = "secret"
	KindServer     ResourceKind = "server"
	KindSession    ResourceKind = "session"
	KindSetting    ResourceKind = "setting"
	KindSource     ResourceKind = "source"
	KindSpace      ResourceKind = "space"
	KindTenant     ResourceKind = "tenant"
	KindToken      ResourceKind = "token"
	KindTool       ResourceKind = "tool"
	KindTunnel     ResourceKind = "tunnel"
	KindWorkspace  ResourceKind = "workspace"
)

var kinds = []ResourceKind{
	KindActor, KindApproval, KindArtifact, KindAutomation, KindBoard, KindConnector, KindContext, KindFolder, KindForge, KindGrant, KindJob,
	KindJoin, KindJournal, KindKnowledge, KindLogin,
	KindMemory, KindNotify, KindPolicy,
	KindProvider, KindRelay, KindRepo, KindResource, KindSecret, KindServer, KindSession, KindSetting, KindSource, KindSpace,
	KindTenant, KindToken, KindTool, KindTunnel, KindWorkspace,
}

var knownKind = setOf(kinds)

// Kinds are all of them, without AnyKind.
func Kinds() []ResourceKind { return slices.Clone(kinds) }

// AccessPermission is what may be done to a resource. Each one includes seeing that the resource exists.
type AccessPermission string

// The six permissions, from seeing a name to administering.
const (
	CanView     AccessPermission = "view"
	CanRead     AccessPermission = "read"
	CanEdit     AccessPermission = "edit"
	CanExecute  AccessPermission = "execute"
	CanDelegate AccessPermission = "delegate"
	CanAdmin    AccessPermission = "admin"
)

var permissions = []AccessPermission{CanView, CanRead, CanEdit, CanExecute, CanDelegate, CanAdmin}

// Permissions are all six.
func Permissions() []AccessPermission { return slices.Clone(permissions) }

// bits is a set of permissions; zero is the empty set and the sign of an unknown name.
type bits uint8

func bit(p AccessPermission) bits {
	switch p {
	case CanView:
		return 1
	case CanRead:
		return 2
	case CanEdit:
		return 4
	case CanExecute:
		return 8
	case CanDelegate:
		return 16
	case CanAdmin:
		return 32
	}
	return 0
}

// DataClass says how sensitive data is. A request that names none is of the class that its resource is labelled with.
type DataClass string

// The classes of the published vocabulary. AnyClass covers them all.
const (
	AnyClass        DataClass = "*"
	Public          DataClass = "public"
	Internal        DataClass = "internal"
	Confidential    DataClass = "confidential"
	Restricted      DataClass = "restricted"
	Executive       DataClass = "executive"
	Credential      DataClass = "credential"
	Regulated       DataClass = "regulated"
	CustomerData    DataClass = "customer_data"
	SourceCode      DataClass = "source_code"
	FinancialRecord DataClass = "financial_record"
)

var classes = []DataClass{Public, Internal, Confidential, Restricted, Executive, Credential, Regulated, CustomerData,
	SourceCode, FinancialRecord}

var knownClass = setOf(classes)

// Classes are all of them, without AnyClass.
func Classes() []DataClass { return slices.Clone(classes) }

// Everyday are the classes that a grant covers when it gives and names none: what nobody called sensitive.
func Everyday() (out []DataClass) {
	for _, c := range classes {
		if c.everyday() {
			out = append(out, c)
		}
	}
	return out
}

// Effect is the answer. The zero Effect is Deny, so that a forgotten answer refuses.
type Effect uint8

// The three answers, narrowest first.
const (
	Deny Effect = iota
	Ask
	Allow
)

var effectNames = [...]string{"deny", "ask", "allow"}

// String gives deny, ask or allow.
func (e Effect) String() string {
	if int(e) < len(effectNames) {
		return effectNames[e]
	}
	return "deny"
}

// MarshalText writes the effect as a word.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads deny, ask or allow and refuses every other word.
func (e *Effect) UnmarshalText(b []byte) error {
	for i, n := range effectNames {
		if n == string(b) {
			*e = Effect(i)
			return nil
		}
	}
	return malformed("effect %q is not one of allow, ask, deny", b)
}

// GrantSource says where a grant comes from, and with it how early it is heard.
type GrantSource string

// People's grants (direct, delegation) are heard first, the house's defaults where those are silent, its fallbacks last.
const (
	Direct     GrantSource = "direct"
	Delegation GrantSource = "delegation"
	Default    GrantSource = "default"
	Fallback   GrantSource = "fallback"
)

const tiers = 3

func tierOf(s GrantSource) int {
	switch s {
	case Direct, Delegation:
		return 0
	case Default:
		return 1
	case Fallback:
		return 2
	}
	return -1
}

func setOf[T comparable](list []T) map[T]bool {
	m := make(map[T]bool, len(list))
	for _, v := range list {
		m[v] = true
	}
	return m
}
