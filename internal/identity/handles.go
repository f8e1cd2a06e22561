package identity

import "tandem/internal/op"

// The operations of actors and of how they come in, sign in and prove that they are here.
const (
	ActorAdd     = op.Def[AddIn, *Actor]("actor.add")
	ActorDisable = op.Def[NameIn, OK]("actor.disable")
	ActorList    = op.Def[ActorsIn, ActorsOut]("actor.list")
	ActorWhoami  = op.Def[Nothing, WhoOut]("actor.whoami")

	AssertionKeyAdd    = op.Def[SignerIn, *Signer]("assertion.key_add")
	AssertionKeyRevoke = op.Def[SignerRef, OK]("assertion.key_revoke")
	AssertionKeys      = op.Def[Nothing, SignersOut]("assertion.keys")

	DeviceChallenge = op.Def[ChallengeIn, ChallengeOut]("device.challenge")
	DeviceList      = op.Def[DevicesIn, DevicesOut]("device.list")
	DeviceRevoke    = op.Def[DeviceIn, OK]("device.revoke")

	JoinEnter   = op.Def[EnterIn, MintOut]("join.enter")
	JoinInvite  = op.Def[InviteIn, InviteOut]("join.invite")
	JoinInvites = op.Def[PageIn, InvitesOut]("join.invites")
	JoinRedeem  = op.Def[RedeemIn, MintOut]("join.redeem")
	JoinRevoke  = op.Def[InviteRef, OK]("join.revoke")

	OAuthClear    = op.Def[ClearIn, ClearOut]("oauth.clear")
	OAuthConsent  = op.Def[ConnectIn, ConsentOut]("oauth.consent")
	OAuthExchange = op.Def[ExchangeIn, ExchangeOut]("oauth.exchange")
	OAuthForget   = op.Def[ForgetIn, OK]("oauth.forget")
	OAuthLook     = op.Def[ConnectIn, ConnectView]("oauth.look")
	OAuthRegister = op.Def[RegisterIn, RegisterOut]("oauth.register")

	PasskeyAdd    = op.Def[PasskeyAddIn, *Passkey]("passkey.add")
	PasskeyList   = op.Def[Nothing, PasskeysOut]("passkey.list")
	PasskeyRemove = op.Def[PasskeyIn, OK]("passkey.remove")

	PersonEnter  = op.Def[PersonIn, PersonOut]("person.enter")
	PersonList   = op.Def[PeopleIn, PeopleOut]("person.list")
	PersonLogout = op.Def[Nothing, OK]("person.logout")
	PersonRemove = op.Def[NameIn, RemovedOut]("person.remove")
	PersonShow   = op.Def[NameIn, HumanOut]("person.show")

	PINSet = op.Def[PINIn, PINOut]("pin.set")

	RecoveryBegin = op.Def[Nothing, *PendingOut]("recovery.begin")
	RecoveryCodes = op.Def[Nothing, CodesOut]("recovery.codes")
	RecoveryShow  = op.Def[Nothing, RecoveryOut]("recovery.show")
	RecoveryStop  = op.Def[StopIn, OK]("recovery.stop")
	RecoveryUse   = op.Def[PINIn, PINOut]("recovery.use")

	SigninEnd   = op.Def[BrowserIn, OK]("signin.end")
	SigninKey   = op.Def[KeyIn, OK]("signin.key")
	SigninLeave = op.Def[Nothing, OK]("signin.leave")
	SigninLink  = op.Def[Nothing, LinkOut]("signin.link")
	SigninList  = op.Def[BrowsersIn, BrowsersOut]("signin.list")
	SigninStart = op.Def[StartIn, StartOut]("signin.start")

	TenantCreate  = op.Def[TenantIn, TenantOut]("tenant.create")
	TenantContent = op.Def[TenantRef, ContentsOut]("tenant.contents")
	TenantExport  = op.Def[ExportIn, ExportOut]("tenant.export")
	TenantImport  = op.Def[ImportIn, ImportOut]("tenant.import")
	TenantErase   = op.Def[EraseIn, EraseOut]("tenant.erase")
	TenantInvite  = op.Def[TenantInviteIn, InviteOut]("tenant.invite")
	TenantLimit   = op.Def[TenantLimitIn, *Tenant]("tenant.limit")
	TenantList    = op.Def[PageIn, TenantsOut]("tenant.list")
	TenantResume  = op.Def[TenantRef, *Tenant]("tenant.resume")
	TenantShow    = op.Def[TenantRef, *Tenant]("tenant.show")
	TenantSuspend = op.Def[SuspendIn, *Tenant]("tenant.suspend")

	TokenList   = op.Def[TokensIn, TokensOut]("token.list")
	TokenNew    = op.Def[MintIn, MintOut]("token.new")
	TokenRevoke = op.Def[TokenIn, OK]("token.revoke")
)
