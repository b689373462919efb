package config

// securityProperties are the broker properties of TLS, SASL, authorization and delegation tokens, by name.
var securityProperties = []Property{
	{
		Name: "authorizer.class.name", Type: String,
		Doc: "",
	},
	{
		Name: "connection.failed.authentication.delay.ms", Type: Int, Default: "100", Rule: atLeast(0), Inert: true,
		Doc: "",
	},
	{
		Name: "connections.max.reauth.ms", Type: Long, Default: "0", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "delegation.token.expiry.check.interval.ms", Type: Long, Default: "3600000", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "delegation.token.expiry.time.ms", Type: Long, Default: "86400000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "delegation.token.max.lifetime.ms", Type: Long, Default: "604800000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "delegation.token.secret.key", Type: Password, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "principal.builder.class", Type: Class, Default: "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.client.callback.handler.class", Type: Class, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.enabled.mechanisms", Type: List, Default: "GSSAPI", Rule: listOf(), Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.jaas.config", Type: Password, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.kerberos.kinit.cmd", Type: String, Default: "/usr/bin/kinit", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.kerberos.min.time.before.relogin", Type: Long, Default: "60000", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.kerberos.principal.to.local.rules", Type: List, Default: "DEFAULT", Rule: listOf(), Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.kerberos.service.name", Type: String, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.kerberos.ticket.renew.jitter", Type: Double, Default: "0.05", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.kerberos.ticket.renew.window.factor", Type: Double, Default: "0.8", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.login.callback.handler.class", Type: Class, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.login.class", Type: Class, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.login.connect.timeout.ms", Type: Int, Null: true, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.login.read.timeout.ms", Type: Int, Null: true, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.login.refresh.buffer.seconds", Type: Short, Default: "300", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.login.refresh.min.period.seconds", Type: Short, Default: "60", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.login.refresh.window.factor", Type: Double, Default: "0.8", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.login.refresh.window.jitter", Type: Double, Default: "0.05", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.login.retry.backoff.max.ms", Type: Long, Default: "10000", Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.login.retry.backoff.ms", Type: Long, Default: "100", Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.mechanism.controller.protocol", Type: String, Default: "GSSAPI", Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.mechanism.inter.broker.protocol", Type: String, Default: "GSSAPI", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.allow.unverified.audience", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.allow.unverified.issuer", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.assertion.algorithm", Type: String, Default: "RS256", Rule: oneOfAnyCase("ES256", "RS256"), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.aud", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.exp.seconds", Type: Int, Default: "300", Rule: between(0, 86400), Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.iss", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.jti.include", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.nbf.seconds", Type: Int, Default: "60", Rule: between(0, 3600), Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.sub", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.assertion.file", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.assertion.private.key.file", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.assertion.private.key.passphrase", Type: Password, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.assertion.template.file", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.client.credentials.client.id", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.client.credentials.client.secret", Type: Password, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.clock.skew.seconds", Type: Int, Default: "30", Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.expected.audience", Type: List, Rule: listOf(), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.expected.issuer", Type: String, Null: true, Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.refresh.ms", Type: Long, Default: "3600000", Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", Type: Long, Default: "10000", Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", Type: Long, Default: "100", Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.url", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.jwt.retriever.class", Type: Class, Default: "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.jwt.validator.class", Type: Class, Default: "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.scope", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.scope.claim.name", Type: String, Default: "scope", Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.sub.claim.name", Type: String, Default: "sub", Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.oauthbearer.token.endpoint.url", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.server.callback.handler.class", Type: Class, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "sasl.server.max.receive.size", Type: Int, Default: "524288", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "security.inter.broker.protocol", Type: String, Default: "PLAINTEXT", Rule: oneOf("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"), Importance: Medium,
		Doc: "",
	},
	{
		Name: "security.providers", Type: String, Null: true, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.allow.dn.changes", Type: Boolean, Default: "false", Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.allow.san.changes", Type: Boolean, Default: "false", Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.cipher.suites", Type: List, Rule: listOf(), Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.client.auth", Type: String, Default: "none", Rule: oneOf("required", "requested", "none"), Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.enabled.protocols", Type: List, Default: "TLSv1.2,TLSv1.3", Rule: listOf(), Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.endpoint.identification.algorithm", Type: String, Default: "https", Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.engine.factory.class", Type: Class, Null: true, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.key.password", Type: Password, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.keymanager.algorithm", Type: String, Default: "SunX509", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.keystore.certificate.chain", Type: Password, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.keystore.key", Type: Password, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.keystore.location", Type: String, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.keystore.password", Type: Password, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.keystore.type", Type: String, Default: "JKS", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.principal.mapping.rules", Type: String, Default: "DEFAULT", Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.protocol", Type: String, Default: "TLSv1.3", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.provider", Type: String, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.secure.random.implementation", Type: String, Null: true, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.trustmanager.algorithm", Type: String, Default: "PKIX", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.truststore.certificates", Type: Password, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.truststore.location", Type: String, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.truststore.password", Type: Password, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "ssl.truststore.type", Type: String, Default: "JKS", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
}
