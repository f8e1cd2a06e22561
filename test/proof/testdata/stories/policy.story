# What agents may do is granted, denied, labelled and ruled.
machines laptop
laptop$ tandem pin set; tandem actor add builder --kind agent
laptop> tandem grant add agent:builder folder:/home/me/code --can read,edit --class source_code --expires 8h
laptop> tandem grant add agent:builder tool:/ --can execute --tool 'bash(command: git log; command: git diff)'
laptop> tandem grant add 'session:*' resource:/prod --ask --can edit --note 'production needs a look'
laptop> tandem grant add '*' folder:/home/me/private --deny --can view
laptop> tandem grant list
  shows folder:/home/me/private
laptop> tandem policy vocabulary ScopedGrant
  shows "title": "ScopedGrant"
laptop> tandem policy context
  shows "tenant_context"
laptop> tandem grant list --published
  shows "grant_source": "direct"
let grt_… laptop$ tandem grant list --json | grep -o 'grt_[a-z0-9]*' | head -1
laptop> tandem grant revoke grt_…
laptop> tandem policy label folder:/home/me/customers customer_data
laptop> tandem policy label
  shows customer_data
laptop$ sed -n '/^```cedar/,/^```/p' /home/checkout/docs/policy.md | sed '/^```/d' >rules.cedar; grep -q no-push rules.cedar; tandem policy test rules.cedar
laptop$ tandem policy edit --file rules.cedar
