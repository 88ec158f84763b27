package org.revenantdb.kafka.streams;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.profile.PlatformProfile;

/** The long form of {@link RestorationCrashTest}. */
@Tag("slow")
@EnabledIfSystemProperty(named = "revenant.long", matches = "true")
@CrashTest(
    profile = {PlatformProfile.EXT4_ORDERED, PlatformProfile.NAMES_LOST},
    states = 200,
    seed = 20_261_128)
class RestorationCrashLongTest extends RestorationCrashTest {}
