package assertion

import "fmt"

// Reason is why an assertion was not taken. The words are protocol: the journal keeps them.
type Reason string

// The reasons, in the order in which they are looked for.
const (
	NotTaken     Reason = "not_taken"      // this door takes none, or the mode of this server
	Several      Reason = "several"        // more than one came with a request
	RawTenant    Reason = "raw_tenant"     // a header names a tenant or an actor, and nobody signed it
	TooLarge     Reason = "too_large"      //
	Malformed    Reason = "malformed"      // no compact JWS of a header and claims that are known here
	Algorithm    Reason = "algorithm"      // not EdDSA
	Type         Reason = "type"           // not an assertion about a tenant
	KeyUnknown   Reason = "key_unknown"    //
	Signature    Reason = "signature"      //
	Version      Reason = "version"        //
	Issuer       Reason = "issuer"         //
	Audience     Reason = "audience"       //
	Expired      Reason = "expired"        //
	NotYet       Reason = "not_yet"        // issued in the future
	Lifetime     Reason = "lifetime"       // longer than allowed, or none
	NoID         Reason = "no_id"          // it cannot be told from another one
	NoTenant     Reason = "no_tenant"      // it names none, or did not name it itself
	NoActor      Reason = "no_actor"       //
	Actors       Reason = "actors"         // its places do not name the same actor
	ExecutedAs   Reason = "executed_as"    // not a person's own request
	Capability   Reason = "capability"     // a capability that is no right of this house
	Scope        Reason = "resource_scope" // what it is narrowed to could not be kept here as it is meant
	Grants       Reason = "grants"         //
	Boundary     Reason = "data_boundary"  //
	KeyPurpose   Reason = "key_purpose"    //
	KeyRevoked   Reason = "key_revoked"    //
	KeyRetired   Reason = "key_retired"    //
	KeyNotYet    Reason = "key_not_yet"    //
	KeyOver      Reason = "key_over"       //
	KeyAudience  Reason = "key_audience"   //
	KeyOrg       Reason = "key_org"        // the key speaks for another organization, or for none where one is needed
	KeyDeploy    Reason = "key_deployment" //
	KeyForged    Reason = "key_forged"     // the journal does not know the key's row
	Credential   Reason = "credential"     // it came with a credential of somebody else
	OrgUnknown   Reason = "org_unknown"    // no tenant is called so, and there is more than the house
	ActorUnknown Reason = "actor_unknown"  // or disabled, or no person
	Replayed     Reason = "replayed"       // it was used before
	IDReused     Reason = "id_reused"      // another one has its id
	LedgerFull   Reason = "ledger_full"    //
)

// Rejected is an assertion that was not taken, with what is known of it. Until Signed, whatever it says may be anybody's word.
type Rejected struct {
	Reason Reason
	Text   string
	Signed bool
	Key    string
	Claims Claims
}

func (r *Rejected) Error() string { return r.Text }

// Reject makes one.
func Reject(why Reason, format string, args ...any) *Rejected {
	return &Rejected{Reason: why, Text: fmt.Sprintf(format, args...)}
}

// of says which assertion it was.
func (r *Rejected) of(key string, c Claims, signed bool) *Rejected {
	r.Key, r.Claims, r.Signed = key, c, signed
	return r
}
