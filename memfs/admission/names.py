"""Words that tell a person's name from a product's, a place's or a heading's (ADMISSION 3). Data.

Name recognisers call a third of all engineering notes people. So a capitalised word is taken for a
name only beside something that makes it one (a role, a title, a private fact), and never when it
stands here. ``GIVEN`` are given names common in many countries; they only ever add a warning, or
decide for a single word beside a private fact.
"""

from __future__ import annotations

from memfs.admission.rules import word_set

NOT_NAMES = word_set(
    """
    the a an and or of in on at by for from with to is are was were be this that these those it its our your
    their his her my we you they i if when while after before since because so but not no yes all any each every
    some most one two three first second last next new old other same ask use set run see add keep make let put
    get give take tell never always please note todo fixme warning important only also then there here what who
    how why where which do does did has have had can could may might must should will would monday tuesday
    wednesday thursday friday saturday sunday january february march april may june july august september
    october november december english german french spanish italian dutch russian chinese japanese korean arabic
    portuguese polish turkish european american british europe america asia africa germany france spain italy
    london paris berlin oslo lagos kyiv lyon tokyo dublin frankfurt ireland virginia oregon jenkins tekton
    github gitlab gitea bitbucket docker kubernetes helm argo flux terraform pulumi ansible puppet chef vagrant
    packer nomad consul vault bazel gradle maven cmake ninja make pants webpack vite rollup babel eslint
    prettier jest mocha cypress playwright selenium storybook chromatic python java kotlin scala groovy rust
    golang ruby rails django flask fastapi spring react angular svelte vue node deno bun typescript javascript
    postgres postgresql mysql mariadb sqlite oracle mongo mongodb redis memcached kafka rabbitmq nats pulsar
    spark flink hadoop hive presto trino airflow dagster prefect luigi snowflake bigquery redshift databricks
    looker tableau grafana prometheus loki tempo jaeger datadog splunk sentry kibana elastic elasticsearch
    opensearch solr lucene nginx apache envoy istio linkerd traefik caddy haproxy varnish cloudflare fastly
    akamai vercel netlify heroku amazon aws google azure microsoft apple facebook meta netflix oracle ibm red
    hat suse debian ubuntu fedora alpine linux windows macos android ios chrome safari firefox edge webkit blink
    chromium slack teams zoom jira confluence notion linear figma asana trello zendesk intercom salesforce
    hubspot stripe paypal adyen twilio sendgrid mailgun okta auth keycloak active directory ldap saml oauth
    openid customer customers client clients user users member members guest guests patient patients tenant
    tenants applicant subscriber employee employees intern interns contractor contractors candidate student
    visitor passenger landlord caller account accounts admin administrator owner owners data platform success
    team teams support service services portal agent agents story stories id ids name names number record
    records table tables row rows column field fields form forms page pages view views model models type types
    class classes object objects list lists set sets map hello hints side server servers code codes key keys
    token tokens secret secrets session sessions request requests response responses error errors event events
    message messages queue topic log logs trace metric metrics dashboard report reports ticket tickets issue
    issues order orders invoice invoices payment payments billing checkout cart product products catalog
    catalogue price prices plan plans feature features flag flags release releases build builds deploy
    deployment deployments pipeline pipelines job jobs task tasks worker workers runner runners node nodes
    cluster pod pods container containers image images volume network gateway proxy balancer load cache database
    schema migration migrations index query api apis sdk cli gui ui ux http https rest graphql grpc json yaml
    xml html css sql csv pdf url uri dns tls ssl ssh tcp udp acceptance experience relationship management
    manager journey insights analytics onboarding lifecycle segment segments reference information interface
    identity profile settings preferences preference access control rights permission permissions role roles
    group groups policy policies engineering operations security legal finance marketing sales research design
    quality compliance privacy risk audit board guild committee council department office desk centre center hub
    lab labs studio systems solutions software technologies technology industries international global north
    south east west central main general public private internal external global local remote default custom
    basic advanced standard premium enterprise business professional personal community open source free beta
    alpha preview stable nightly
    watson robot strange sun moon earth mercury venus mars jupiter saturn neptune bloom levenshtein
    dijkstra turing nagle lovelace hamilton grace ada hopper knuth euler gauss newton pascal fibonacci markov
    bayes kalman huffman hamming shannon fourier laplace poisson bernoulli gaussian zipf raft paxos lamport
    merkle boyer moore knapsack cantor bearer basic digest content accept cookie host origin referer etag cors
    csrf xss void null none true false string boolean integer float double char byte
    """
)

GIVEN = word_set(
    """
    aaron adam adrian agnes ahmed aisha alan albert alejandro alex alexander alexandra ali alice alicia alina
    amanda amelia amina amir amy ana anders andre andrea andreas andrew angela anita anja ann anna anne annika
    anthony antonio arjun arthur astrid ayse barbara beatrice ben benjamin bernd bianca bjorn bob boris brian
    bruno camille carla carlos carmen caroline catherine cecilia charles charlotte chen chiara chloe chris
    christian christina christine claire clara claudia craig dana daniel daniela darko david deborah denis
    dennis diana diego dieter dimitri dmitri dominik donna edward elena eleni elias elisabeth elizabeth ella
    ellen emil emily emma enrique eric erik ernst esther eva fatima felix fernando filip fiona florian frances
    francesca francesco francis frank frida gabriel gabriela george georg gerhard giovanni giulia gloria greta
    gunnar gustav hamid hanna hannah hans harald harry hassan heather heidi heinz helen helena helga henrik
    henry hiroshi hugo ibrahim igor ines ingrid irene irina isaac isabel isabella ivan jack jacob jakob james
    jan jana jane janet jason javier jean jennifer jens jessica jim joan joao joe johan johanna johannes john
    jonas jonathan jorge jose joseph josh joshua juan judith julia julian julie julien jun karen karl karin
    karim kate katharina katherine kathrin katja keiko kenji kevin khalid kim klaus kristin kumar lara larissa
    lars laura lauren lea leila lena leo leon leonie liam lily linda lisa lorenzo louis louise luca lucas lucia
    lucy luis luisa lukas maja manuel marc marcel marco marcus margaret maria mariam marie marina mario mark
    marko markus marta martha martin martina mary mateo mateusz matthew matthias maurice max maya mehmet mei
    melanie mia michael michaela michelle miguel mike mila milan mina miriam mohamed mohammed monica monika
    nadia nadine nancy naomi natalia natalie nathan nicholas nicola nicole niels nikita nikolai nils nina noah
    noor nora olaf oleg olga oliver olivia omar oscar oskar pablo pamela pascal patricia patrick paul paula
    pavel pedro peter petra philip philipp pierre piotr priya rachel rafael rahul raj ralf ramon raymond rebecca
    renate ricardo richard rita robert roberto robin roland roman rosa rose ruth ryan sabine salma sam samantha
    samir samuel sandra sara sarah sasha scott sebastian sergei sergey sergio sharon silvia simon simone sofia
    sofie sonia sophia sophie stefan stefanie stella stephan stephanie stephen steve steven sun susan susanne
    sven svetlana sylvia takeshi tamara tanja tariq tatiana teresa theresa theo thomas tim timothy tina tobias
    tom tomas tony ulrich ulrike uwe valentina vanessa vera verena veronica victor victoria viktor vincent
    vladimir walter wei wendy werner wilhelm william wolfgang xavier yan yasmin yuki yulia yusuf yvonne zoe
    zahra zara
    """
)
