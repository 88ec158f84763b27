package org.revenantdb.collections;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.Crash;

/** The long form of {@link WorkQueueCrashTest}. */
@Tag("slow")
@EnabledIfSystemProperty(named = "revenant.long", matches = "true")
@CrashTest(
    crash = {Crash.POWER_CUT, Crash.PROCESS_DEATH},
    states = 100,
    kills = 2,
    seed = 20_261_127)
class WorkQueueCrashLongTest extends WorkQueueCrashTest {}
