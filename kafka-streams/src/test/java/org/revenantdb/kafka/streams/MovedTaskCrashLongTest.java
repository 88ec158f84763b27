package org.revenantdb.kafka.streams;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.profile.PlatformProfile;

/** The long form of {@link MovedTaskCrashTest}. */
@Tag("slow")
@EnabledIfSystemProperty(named = "revenant.long", matches = "true")
@CrashTest(
    profile = {PlatformProfile.EXT4_ORDERED, PlatformProfile.NAMES_LOST},
    states = 1_000,
    seed = 20_261_129)
class MovedTaskCrashLongTest extends MovedTaskCrashTest {}
