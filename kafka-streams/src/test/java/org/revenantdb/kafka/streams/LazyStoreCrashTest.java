package org.revenantdb.kafka.streams;

import org.junit.jupiter.api.Tag;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.engine.Durability;

/**
 * The same with {@code revenant.durability=lazy}, the default: a power cut takes back the last
 * commits of both tasks, in their order, rows and offsets together. What was made durable later
 * stays.
 */
@Tag("slow")
@CrashTest(
    profile = {PlatformProfile.EXT4_ORDERED, PlatformProfile.NAMES_LOST},
    states = 60,
    seed = 20_261_129)
class LazyStoreCrashTest extends StoreCrashTest {
  @Override
  Durability durability() {
    return Durability.LAZY;
  }
}
