package org.revenantdb.collections;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.Crash;

/** The long form of {@link ChangeFeedRetentionCrashTest}. */
@Tag("slow")
@EnabledIfSystemProperty(named = "revenant.long", matches = "true")
@CrashTest(
    crash = {Crash.POWER_CUT, Crash.PROCESS_DEATH},
    states = 30,
    kills = 1,
    seed = 20_261_130)
class ChangeFeedRetentionCrashLongTest extends ChangeFeedRetentionCrashTest {}
