package org.revenantdb.engine.archive;

import java.time.Duration;
import java.util.Map;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Follower;
import org.revenantdb.engine.FollowerOptions;
import org.revenantdb.engine.backup.BackedUp;

/** What the tests of followers share. */
final class Followed {
  /** Looks at the archive when a test asks for it. */
  static final FollowerOptions QUIET =
      FollowerOptions.defaults()
          .withDatabase(BackedUp.SMALL)
          .withInterval(Duration.ofDays(1))
          .withFoldBytes(1 << 20);

  private Followed() {}

  /** All rows of the newest snapshot, whose structure is checked. */
  static Map<String, Map<String, String>> contents(Follower follower) {
    try (Database snapshot = follower.snapshot()) {
      BackedUp.assertSound(snapshot.check());
      return BackedUp.contents(snapshot);
    }
  }

  static void assertSound(Database db) {
    BackedUp.assertSound(db.check());
  }
}
