package org.revenantdb.collections;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.Crash;

/** The long form of {@link IndexBuildCrashTest}. */
@Tag("slow")
@EnabledIfSystemProperty(named = "revenant.long", matches = "true")
@CrashTest(
    crash = {Crash.POWER_CUT, Crash.PROCESS_DEATH},
    states = 200,
    kills = 20,
    seed = 20_261_130)
class IndexBuildCrashLongTest extends IndexBuildCrashTest {}
