CREATE INDEX automation_delivery_hook ON automation_delivery (tenant, hook, id);
