package org.revenantdb.chaos.junit;

import java.io.IOException;
import org.revenantdb.chaos.power.PlatformProfile;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutRun;
import org.revenantdb.chaos.run.SeenImages;
import org.revenantdb.chaos.subject.Crash;

/** Power cuts under one profile. */
final class PowerCutCase extends CrashTestCase {

  private final CrashTestSettings settings;
  private final PlatformProfile profile;
  private final SharedRecording recording;

  PowerCutCase(
      Class<?> type,
      CrashTestSettings settings,
      PlatformProfile profile,
      SharedRecording recording) {
    super(type, Crash.POWER_CUT, settings.seed());
    this.settings = settings;
    this.profile = profile;
    this.recording = recording;
  }

  @Override
  public String name() {
    return "%s, %s, %d states".formatted(Crash.POWER_CUT, profile, settings.states());
  }

  @Override
  Outcome measure() throws IOException {
    // Images are not shared with other profiles: one that failed there must fail here, too.
    return new PowerCutRun<>(
            recording.subjects(), recording.get(), settings.powerCut(profile), new SeenImages())
        .run();
  }
}
