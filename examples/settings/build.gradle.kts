plugins {
    java
}

repositories {
    mavenLocal() // until the first release
    mavenCentral()
}

java {
    toolchain { languageVersion = JavaLanguageVersion.of(25) }
}

dependencies {
    testImplementation("org.revenantdb:revenant-chaos:0.1.0-SNAPSHOT")
    testImplementation(platform("org.junit:junit-bom:5.14.4"))
    testImplementation("org.junit.jupiter:junit-jupiter")
    testRuntimeOnly("org.junit.platform:junit-platform-launcher")
}

tasks.test {
    useJUnitPlatform()
    // What is found is not a function of the inputs alone: never take a result from the cache.
    outputs.upToDateWhen { false }
    systemProperty("revenant.chaos.dir", layout.buildDirectory.dir("chaos").get().asFile.path)
    listOf("seed", "states", "seconds", "replay", "debug", "error", "recorder", "baseline.write").forEach { name ->
        providers.systemProperty("revenant.chaos.$name").orNull?.let {
            systemProperty("revenant.chaos.$name", it)
        }
    }
    testLogging { showStandardStreams = true } // the line of each crash test
}
