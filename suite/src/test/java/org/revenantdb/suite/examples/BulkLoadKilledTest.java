package org.revenantdb.suite.examples;

import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.Crash;

/** The bulk load with killed processes; only under {@code -Plong}, because it takes long. */
@EnabledIfSystemProperty(named = "revenant.long", matches = "true")
@CrashTest(crash = Crash.PROCESS_DEATH, kills = 5, seed = 20_261_122)
class BulkLoadKilledTest extends BulkLoadTest {}
