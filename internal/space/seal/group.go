package seal

import (
	"bytes"
	"fmt"
	"slices"
	"sort"

	"github.com/thomas-vilte/mls-go/ciphersuite"
	"github.com/thomas-vilte/mls-go/credentials"
	"github.com/thomas-vilte/mls-go/framing"
	"github.com/thomas-vilte/mls-go/group"
	"github.com/thomas-vilte/mls-go/keypackages"
	"github.com/thomas-vilte/mls-go/treesync"
)

// suite is MLS_128_DHKEMX25519_CHACHA20POLY1305_SHA256_Ed25519 (RFC 9420, 17.1).
const suite = ciphersuite.MLS128DHKEMX25519ChaCha20

// exporterLabel separates the keys of envelopes from any other use of the group.
const exporterLabel = "tandem-envelope-v1"

// Group is one member's view of a space's MLS group at one epoch. It is a
// value: Add, Remove, Refresh and Apply return the next group and leave this
// one usable, because only the host decides which commit an epoch gets.
type Group struct {
	me    *Identity
	state []byte
	g     *group.Group
}

// Change is a commit on offer. It becomes true when the host accepts Commit
// for the epoch it was made in; until then Next must not be used to seal.
type Change struct {
	Commit  []byte // for the members
	Welcome []byte // for the newcomer, empty when nobody is added
	Next    *Group
}

// NewGroup starts the group of a space with one member, at epoch 0.
func NewGroup(me *Identity, space string) (*Group, error) {
	kp, priv, err := generate(me)
	if err != nil {
		return nil, err
	}
	g, err := group.NewGroup(group.NewGroupID([]byte(space)), suite, kp, priv)
	if err != nil {
		return nil, fmt.Errorf("start group: %w", err)
	}
	return wrap(me, g)
}

func generate(me *Identity) (*keypackages.KeyPackage, *keypackages.KeyPackagePrivateKeys, error) {
	cred := &credentials.CredentialWithKey{
		Credential:        credentials.NewBasicCredential(me.card.credential()),
		Ed25519PrivateKey: me.sign,
		SignatureKeyBytes: me.card.Sign,
	}
	kp, priv, err := keypackages.Generate(cred, suite)
	if err != nil {
		return nil, nil, fmt.Errorf("make key package: %w", err)
	}
	return kp, priv, nil
}

func wrap(me *Identity, g *group.Group) (*Group, error) {
	state, err := g.MarshalState()
	if err != nil {
		return nil, fmt.Errorf("write group state: %w", err)
	}
	return &Group{me: me, state: state, g: g}, nil
}

// Bytes returns the state to store. It holds secrets: seal it at rest.
func (g *Group) Bytes() []byte { return bytes.Clone(g.state) }

// OpenGroup restores what Bytes returned.
func OpenGroup(me *Identity, state []byte) (*Group, error) {
	inner, err := group.UnmarshalGroupState(state)
	if err != nil {
		return nil, fmt.Errorf("read group state: %w", err)
	}
	return &Group{me: me, state: bytes.Clone(state), g: inner}, nil
}

// copyOf gives a step its own state, so that a failed step changes nothing.
func (g *Group) copyOf() (*group.Group, error) {
	inner, err := group.UnmarshalGroupState(g.state)
	if err != nil {
		return nil, fmt.Errorf("read group state: %w", err)
	}
	return inner, nil
}

// Epoch is the number of membership changes so far.
func (g *Group) Epoch() uint64 { return g.g.Epoch().AsUint64() }

// Space is the id the group was started with.
func (g *Group) Space() string { return string(g.g.ID().AsSlice()) }

// Roster lists the members of this epoch, ordered by id.
func (g *Group) Roster() ([]Card, error) {
	var out []Card
	for _, m := range g.g.GetMembers() {
		if m == nil || m.Credential == nil {
			continue
		}
		card, err := cardFromCredential(m.Credential.Identity, g.g.MemberSigningKey(m.LeafIndex))
		if err != nil {
			return nil, err
		}
		out = append(out, card)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out, nil
}

// Has says whether somebody is a member of this epoch.
func (g *Group) Has(id MemberID) (bool, error) {
	roster, err := g.Roster()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(roster, func(c Card) bool { return c.ID == id }), nil
}

// EpochKey derives the key that envelopes of this epoch are sealed with. Only
// members of this epoch can derive it, and members keep it for as long as they
// want to reread what was sealed with it.
func (g *Group) EpochKey() (EpochKey, error) {
	raw, err := g.g.Export(exporterLabel, []byte(g.Space()), 32)
	if err != nil {
		return EpochKey{}, fmt.Errorf("derive epoch key: %w", err)
	}
	return EpochKey{Epoch: g.Epoch(), Secret: raw}, nil
}

// Phrase is the safety phrase of this epoch: equal for two people exactly when
// they see the same group with the same members.
func (g *Group) Phrase() string { return phrase(g.g.EpochAuthenticator()) }

// Add offers a commit that takes the newcomer in.
func (g *Group) Add(keyPackage []byte) (Change, error) {
	card, err := CardOf(keyPackage)
	if err != nil {
		return Change{}, err
	}
	roster, err := g.Roster()
	if err != nil {
		return Change{}, err
	}
	for _, c := range roster {
		if c.ID == card.ID {
			return Change{}, refuse("%s is a member already", card.ID)
		}
	}
	return g.change(func(inner *group.Group) error {
		kp, err := keypackages.UnmarshalKeyPackage(keyPackage)
		if err != nil {
			return refuse("the key package is malformed: %v", err)
		}
		if err := kp.Validate(); err != nil {
			return refuse("the key package is not valid: %v", err)
		}
		if _, err := inner.AddMember(kp); err != nil {
			return refuse("the key package cannot be added: %v", err)
		}
		return nil
	})
}

// Remove offers a commit that puts a member out. A member cannot put itself
// out: in MLS a leave is carried out by somebody who stays.
func (g *Group) Remove(id MemberID) (Change, error) {
	if id == g.me.card.ID {
		return Change{}, refuse("a member cannot commit its own removal; somebody who stays does it")
	}
	return g.change(func(inner *group.Group) error {
		for _, m := range inner.GetMembers() {
			card, err := cardFromCredential(m.Credential.Identity, inner.MemberSigningKey(m.LeafIndex))
			if err != nil {
				return err
			}
			if card.ID != id {
				continue
			}
			if _, err := inner.RemoveMember(m.LeafIndex); err != nil {
				return fmt.Errorf("propose removal of %s: %w", id, err)
			}
			return nil
		}
		return refuse("%s is not a member", id)
	})
}

// Refresh offers a commit with the same members and new secrets, so that a key
// that leaked earlier is of no further use.
func (g *Group) Refresh() (Change, error) {
	return g.change(func(*group.Group) error { return nil })
}

func (g *Group) change(propose func(*group.Group) error) (Change, error) {
	inner, err := g.copyOf()
	if err != nil {
		return Change{}, err
	}
	if err := propose(inner); err != nil {
		return Change{}, err
	}
	key := ciphersuite.NewEd25519SignaturePrivateKey(g.me.sign)
	staged, err := inner.Commit(key, key.PublicKey(), nil)
	if err != nil {
		return Change{}, fmt.Errorf("make commit: %w", err)
	}
	var added []*keypackages.KeyPackage
	for _, p := range staged.Proposals() {
		if p.Type == group.ProposalTypeAdd && p.Add != nil {
			added = append(added, p.Add.KeyPackage)
		}
	}
	joiner := staged.JoinerSecret()
	if err := inner.MergeCommit(staged); err != nil {
		return Change{}, fmt.Errorf("apply own commit: %w", err)
	}
	content := staged.AuthenticatedContent()
	out := Change{Commit: framing.NewMLSMessagePublic(&framing.PublicMessage{
		Content: content.Content, Auth: content.Auth, MembershipTag: staged.MembershipTag(),
	}).Marshal()}
	if len(added) > 0 {
		w, err := inner.CreateWelcomeWithOpts(added, key,
			group.WithJoinerSecret(joiner), group.WithPSKIDs(staged.PskIDs()),
			group.WithPSKSecret(staged.RawPskSecret()), group.WithStagedCommit(staged))
		if err != nil {
			return Change{}, fmt.Errorf("make welcome: %w", err)
		}
		out.Welcome = (&framing.MLSMessage{Welcome: w.Marshal()}).Marshal()
	}
	out.Next, err = wrap(g.me, inner)
	return out, err
}

// Apply follows another member's commit. A member that the commit removes gets
// an error and no next group.
func (g *Group) Apply(commit []byte) (*Group, error) {
	inner, err := g.copyOf()
	if err != nil {
		return nil, err
	}
	if err := follow(inner, commit); err != nil {
		return nil, err
	}
	next, err := wrap(g.me, inner)
	if err != nil {
		return nil, err
	}
	roster, err := next.Roster()
	if err != nil {
		return nil, err
	}
	for _, c := range roster {
		if c.ID == g.me.card.ID {
			return next, nil
		}
	}
	return nil, refuse("this commit removes %s", g.me.card.ID)
}

// follow checks and applies a commit that arrived as a public message, the only
// wire form this package makes; a private one is refused.
func follow(inner *group.Group, commit []byte) (err error) {
	defer malformed("the commit", &err)
	msg, err := framing.UnmarshalMLSMessage(commit)
	if err != nil {
		return refuse("these bytes are not a commit")
	}
	pub, ok := msg.AsPublic()
	if !ok {
		return refuse("these bytes are not a public commit")
	}
	if !bytes.Equal(pub.Content.GroupID, inner.ID().AsSlice()) {
		return refuse("the commit belongs to another group")
	}
	if pub.Content.Epoch != inner.Epoch().AsUint64() {
		return refuseKind(ErrEpoch, "the commit is for epoch %d, the group is at %d", pub.Content.Epoch, inner.Epoch().AsUint64())
	}
	secrets := inner.EpochSecrets()
	if secrets == nil || secrets.MembershipKey == nil {
		return refuse("the group has no membership key to check the commit with")
	}
	context := inner.GroupContext().Marshal()
	if err := pub.VerifyMembershipTagWithContext(inner.CipherSuite(), secrets.MembershipKey, context); err != nil {
		return refuse("the commit was not made by a member: %v", err)
	}
	ac := &framing.AuthenticatedContent{
		WireFormat: framing.WireFormatPublicMessage, Content: pub.Content, Auth: pub.Auth, GroupContext: context,
	}
	leaf := treesync.LeafIndex(pub.Content.Sender.LeafIndex)
	if err := inner.ProcessReceivedCommit(ac, leaf, inner.MyLeafEncryptionKey()); err != nil {
		return refuse("the commit does not apply: %v", err)
	}
	return nil
}

// malformed turns a panic over somebody else's bytes into a refusal: the library below is not ours.
func malformed(what string, err *error) {
	if p := recover(); p != nil {
		*err = refuse("%s is malformed: %v", what, p)
	}
}
