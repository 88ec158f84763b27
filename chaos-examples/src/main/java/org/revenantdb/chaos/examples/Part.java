package org.revenantdb.chaos.examples;

import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.Crash;

/** The crashes that each store goes through, from what every machine does to what few do. */
enum Part {
  DEATH("process death", Crash.PROCESS_DEATH, null),
  ORDERED("power cut, ext4 ordered", Crash.POWER_CUT, PlatformProfile.EXT4_ORDERED),
  SECTORS("power cut, torn sectors", Crash.POWER_CUT, PlatformProfile.SECTOR_512),
  GARBAGE("power cut, garbage sectors", Crash.POWER_CUT, PlatformProfile.SECTOR_GARBAGE),
  SIZE_FIRST("power cut, size before data", Crash.POWER_CUT, PlatformProfile.SIZE_BEFORE_DATA),
  NAMES("power cut, names lost", Crash.POWER_CUT, PlatformProfile.NAMES_LOST),
  STRICT("power cut, all of POSIX", Crash.POWER_CUT, PlatformProfile.STRICT_POSIX);

  private final String title;
  private final Crash crash;

  @SuppressWarnings("ImmutableEnumChecker") // an enum
  private final @Nullable PlatformProfile profile;

  Part(String title, Crash crash, @Nullable PlatformProfile profile) {
    this.title = title;
    this.crash = crash;
    this.profile = profile;
  }

  String title() {
    return title;
  }

  Crash crash() {
    return crash;
  }

  /** What the platform may do; of a process death it is not used. */
  PlatformProfile profile() {
    return profile == null ? PlatformProfile.EXT4_ORDERED : profile;
  }

  /** Whether a failure cannot be blamed on an unusual file system. */
  boolean isUsual() {
    return this == DEATH || this == ORDERED;
  }
}
