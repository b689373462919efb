package config

// securityProperties are the broker properties of TLS, SASL, authorization and delegation tokens, by name.
var securityProperties = []Property{
	{
		Name: "authorizer.class.name", Type: String,
		Doc: "Class that allows or denies requests. weir has no access control lists yet and does not start where one is named.",
	},
	{
		Name: "connection.failed.authentication.delay.ms", Type: Int, Default: "100", Rule: atLeast(0), Inert: true,
		Doc: "Pause before a connection that failed to authenticate is closed, in milliseconds. Less than connections.max.idle.ms.",
	},
	{
		Name: "connections.max.reauth.ms", Type: Long, Default: "0", Importance: Medium, Inert: true,
		Doc: "A client must authenticate again after this long, in milliseconds; 0 never asks.",
	},
	{
		Name: "delegation.token.expiry.check.interval.ms", Type: Long, Default: "3600000", Rule: atLeast(1), Inert: true,
		Doc: "How often expired delegation tokens are removed, in milliseconds.",
	},
	{
		Name: "delegation.token.expiry.time.ms", Type: Long, Default: "86400000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "How long a delegation token is valid before it must be renewed, in milliseconds.",
	},
	{
		Name: "delegation.token.max.lifetime.ms", Type: Long, Default: "604800000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "How long a delegation token can be renewed, in milliseconds.",
	},
	{
		Name: "delegation.token.secret.key", Type: Password, Null: true, Importance: Medium, Inert: true,
		Doc: "Secret from which delegation tokens are made, the same on every node.",
	},
	{
		Name: "principal.builder.class", Type: Class, Default: "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Class that derives a principal from a connection.",
	},
	{
		Name: "sasl.client.callback.handler.class", Type: Class, Null: true, Importance: Medium, Inert: true,
		Doc: "Class that answers a SASL client's questions.",
	},
	{
		Name: "sasl.enabled.mechanisms", Type: List, Default: "GSSAPI", Rule: listOf(), Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "SASL mechanisms offered to clients.",
	},
	{
		Name: "sasl.jaas.config", Type: Password, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Login of a SASL listener in JAAS form.",
	},
	{
		Name: "sasl.kerberos.kinit.cmd", Type: String, Default: "/usr/bin/kinit", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Path of Kerberos' kinit.",
	},
	{
		Name: "sasl.kerberos.min.time.before.relogin", Type: Long, Default: "60000", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Least time between Kerberos logins, in milliseconds.",
	},
	{
		Name: "sasl.kerberos.principal.to.local.rules", Type: List, Default: "DEFAULT", Rule: listOf(), Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Rules that shorten Kerberos principals to names, tried in order.",
	},
	{
		Name: "sasl.kerberos.service.name", Type: String, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Kerberos name of the brokers.",
	},
	{
		Name: "sasl.kerberos.ticket.renew.jitter", Type: Double, Default: "0.05", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Random share added to the renewal time of a Kerberos ticket.",
	},
	{
		Name: "sasl.kerberos.ticket.renew.window.factor", Type: Double, Default: "0.8", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Share of a Kerberos ticket's lifetime after which it is renewed.",
	},
	{
		Name: "sasl.login.callback.handler.class", Type: Class, Null: true, Importance: Medium, Inert: true,
		Doc: "Class that answers a SASL login's questions.",
	},
	{
		Name: "sasl.login.class", Type: Class, Null: true, Importance: Medium, Inert: true,
		Doc: "Class that performs a SASL login.",
	},
	{
		Name: "sasl.login.connect.timeout.ms", Type: Int, Null: true, Inert: true,
		Doc: "How long connecting to a token provider may take, in milliseconds.",
	},
	{
		Name: "sasl.login.read.timeout.ms", Type: Int, Null: true, Inert: true,
		Doc: "How long reading from a token provider may take, in milliseconds.",
	},
	{
		Name: "sasl.login.refresh.buffer.seconds", Type: Short, Default: "300", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Time to keep before a credential expires when it is renewed, in seconds.",
	},
	{
		Name: "sasl.login.refresh.min.period.seconds", Type: Short, Default: "60", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Least time before a credential is renewed, in seconds.",
	},
	{
		Name: "sasl.login.refresh.window.factor", Type: Double, Default: "0.8", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Share of a credential's lifetime after which it is renewed.",
	},
	{
		Name: "sasl.login.refresh.window.jitter", Type: Double, Default: "0.05", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Random share of the lifetime added to that.",
	},
	{
		Name: "sasl.login.retry.backoff.max.ms", Type: Long, Default: "10000", Inert: true,
		Doc: "Longest pause between attempts to log in, in milliseconds.",
	},
	{
		Name: "sasl.login.retry.backoff.ms", Type: Long, Default: "100", Inert: true,
		Doc: "First pause between attempts to log in, in milliseconds.",
	},
	{
		Name: "sasl.mechanism.controller.protocol", Type: String, Default: "GSSAPI", Importance: High, Inert: true,
		Doc: "SASL mechanism to controllers.",
	},
	{
		Name: "sasl.mechanism.inter.broker.protocol", Type: String, Default: "GSSAPI", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "SASL mechanism between brokers.",
	},
	{
		Name: "sasl.oauthbearer.allow.unverified.audience", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "Accept tokens without checking their audience.",
	},
	{
		Name: "sasl.oauthbearer.allow.unverified.issuer", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "Accept tokens without checking their issuer.",
	},
	{
		Name: "sasl.oauthbearer.assertion.algorithm", Type: String, Default: "RS256", Rule: oneOfAnyCase("ES256", "RS256"), Importance: Medium, Inert: true,
		Doc: "Algorithm that signs client assertions.",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.aud", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "Audience claim of client assertions.",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.exp.seconds", Type: Int, Default: "300", Rule: between(0, 86400), Inert: true,
		Doc: "Lifetime of client assertions, in seconds.",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.iss", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "Issuer claim of client assertions.",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.jti.include", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "Give client assertions an id claim.",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.nbf.seconds", Type: Int, Default: "60", Rule: between(0, 3600), Inert: true,
		Doc: "How far before now client assertions become valid, in seconds.",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.sub", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "Subject claim of client assertions.",
	},
	{
		Name: "sasl.oauthbearer.assertion.file", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "File with a ready client assertion.",
	},
	{
		Name: "sasl.oauthbearer.assertion.private.key.file", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "File with the key that signs client assertions.",
	},
	{
		Name: "sasl.oauthbearer.assertion.private.key.passphrase", Type: Password, Null: true, Importance: Medium, Inert: true,
		Doc: "Passphrase of that key.",
	},
	{
		Name: "sasl.oauthbearer.assertion.template.file", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "File with further headers and claims of client assertions.",
	},
	{
		Name: "sasl.oauthbearer.client.credentials.client.id", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "Client id for the client credentials grant.",
	},
	{
		Name: "sasl.oauthbearer.client.credentials.client.secret", Type: Password, Null: true, Importance: Medium, Inert: true,
		Doc: "Client secret for the client credentials grant.",
	},
	{
		Name: "sasl.oauthbearer.clock.skew.seconds", Type: Int, Default: "30", Inert: true,
		Doc: "Difference between the clocks of broker and token provider that is tolerated, in seconds.",
	},
	{
		Name: "sasl.oauthbearer.expected.audience", Type: List, Rule: listOf(), Importance: High, Inert: true,
		Doc: "Audiences of which a token must name one.",
	},
	{
		Name: "sasl.oauthbearer.expected.issuer", Type: String, Null: true, Importance: High, Inert: true,
		Doc: "Issuer that a token must name.",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.refresh.ms", Type: Long, Default: "3600000", Inert: true,
		Doc: "How often the provider's keys are fetched again, in milliseconds.",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", Type: Long, Default: "10000", Inert: true,
		Doc: "Longest pause between attempts to fetch the keys, in milliseconds.",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", Type: Long, Default: "100", Inert: true,
		Doc: "First pause between attempts to fetch the keys, in milliseconds.",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.url", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "Where the provider's keys are.",
	},
	{
		Name: "sasl.oauthbearer.jwt.retriever.class", Type: Class, Default: "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever", Importance: Medium, Inert: true,
		Doc: "Class that obtains tokens.",
	},
	{
		Name: "sasl.oauthbearer.jwt.validator.class", Type: Class, Default: "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator", Importance: Medium, Inert: true,
		Doc: "Class that checks tokens.",
	},
	{
		Name: "sasl.oauthbearer.scope", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "Scope that is asked for.",
	},
	{
		Name: "sasl.oauthbearer.scope.claim.name", Type: String, Default: "scope", Inert: true,
		Doc: "Claim that holds the scope.",
	},
	{
		Name: "sasl.oauthbearer.sub.claim.name", Type: String, Default: "sub", Inert: true,
		Doc: "Claim that holds the subject.",
	},
	{
		Name: "sasl.oauthbearer.token.endpoint.url", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "Where tokens are obtained.",
	},
	{
		Name: "sasl.server.callback.handler.class", Type: Class, Null: true, Importance: Medium, Inert: true,
		Doc: "Class that answers a SASL server's questions.",
	},
	{
		Name: "sasl.server.max.receive.size", Type: Int, Default: "524288", Importance: Medium, Inert: true,
		Doc: "Largest SASL message before a client is authenticated, in bytes.",
	},
	{
		Name: "security.inter.broker.protocol", Type: String, Default: "PLAINTEXT", Rule: oneOf("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"), Importance: Medium,
		Doc: "Security protocol between brokers, where inter.broker.listener.name is not set.",
	},
	{
		Name: "security.providers", Type: String, Null: true, Inert: true,
		Doc: "Classes that add security algorithms.",
	},
	{
		Name: "ssl.allow.dn.changes", Type: Boolean, Default: "false", Inert: true,
		Doc: "Allow a new certificate to have another distinguished name.",
	},
	{
		Name: "ssl.allow.san.changes", Type: Boolean, Default: "false", Inert: true,
		Doc: "Allow a new certificate to have other alternative names.",
	},
	{
		Name: "ssl.cipher.suites", Type: List, Rule: listOf(), Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Cipher suites that may be used. Empty allows all supported ones.",
	},
	{
		Name: "ssl.client.auth", Type: String, Default: "none", Rule: oneOf("required", "requested", "none"), Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Whether clients must show a certificate: required, requested or none.",
	},
	{
		Name: "ssl.enabled.protocols", Type: List, Default: "TLSv1.2,TLSv1.3", Rule: listOf(), Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "TLS versions that may be used.",
	},
	{
		Name: "ssl.endpoint.identification.algorithm", Type: String, Default: "https", Update: PerBroker, Inert: true,
		Doc: "How the name of a server is checked against its certificate. Empty does not check.",
	},
	{
		Name: "ssl.engine.factory.class", Type: Class, Null: true, Update: PerBroker, Inert: true,
		Doc: "Class that makes TLS engines.",
	},
	{
		Name: "ssl.key.password", Type: Password, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Password of the private key.",
	},
	{
		Name: "ssl.keymanager.algorithm", Type: String, Default: "SunX509", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Algorithm of the key manager.",
	},
	{
		Name: "ssl.keystore.certificate.chain", Type: Password, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Certificate chain in PEM form.",
	},
	{
		Name: "ssl.keystore.key", Type: Password, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Private key in PEM form.",
	},
	{
		Name: "ssl.keystore.location", Type: String, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "File with key and certificates.",
	},
	{
		Name: "ssl.keystore.password", Type: Password, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Password of that file.",
	},
	{
		Name: "ssl.keystore.type", Type: String, Default: "JKS", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Format of that file.",
	},
	{
		Name: "ssl.principal.mapping.rules", Type: String, Default: "DEFAULT", Inert: true,
		Doc: "Rules that shorten a certificate's distinguished name to a principal, tried in order.",
	},
	{
		Name: "ssl.protocol", Type: String, Default: "TLSv1.3", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "TLS version of the context.",
	},
	{
		Name: "ssl.provider", Type: String, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Security provider of TLS.",
	},
	{
		Name: "ssl.secure.random.implementation", Type: String, Null: true, Update: PerBroker, Inert: true,
		Doc: "Source of random numbers for TLS.",
	},
	{
		Name: "ssl.trustmanager.algorithm", Type: String, Default: "PKIX", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Algorithm of the trust manager.",
	},
	{
		Name: "ssl.truststore.certificates", Type: Password, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Trusted certificates in PEM form.",
	},
	{
		Name: "ssl.truststore.location", Type: String, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "File with trusted certificates.",
	},
	{
		Name: "ssl.truststore.password", Type: Password, Null: true, Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Password of that file.",
	},
	{
		Name: "ssl.truststore.type", Type: String, Default: "JKS", Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Format of that file.",
	},
}
