package org.revenantdb.chaos.readme;

import java.io.IOException;
import java.nio.file.Path;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;

@CrashTest(
    crash = {Crash.POWER_CUT, Crash.PROCESS_DEATH},
    profile = {
      PlatformProfile.EXT4_ORDERED,
      PlatformProfile.NAMES_LOST,
      PlatformProfile.SECTOR_GARBAGE
    },
    states = 500,
    kills = 5,
    baseline = "src/test/chaos/known-failures.txt")
class SettingsInCiTest implements CrashSubject<SettingsTest.Settings> {

  private final SettingsTest test = new SettingsTest();

  public SettingsTest.Settings open(Path dir) {
    return test.open(dir);
  }

  public void work(SettingsTest.Settings settings, Promises promises) throws IOException {
    test.work(settings, promises);
  }

  public void check(SettingsTest.Settings settings, Recovered recovered) {
    test.check(settings, recovered);
  }
}
