package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ParkLimitsTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "25",
        "25+36",
        "25+36-LTS",
        "25-ea+1",
        "25.0.0.1",
        "25.0.1",
        "25.0.1+8-LTS",
        "25.0.2",
        "25.0.2+10",
        "25.0.2.0.1+1-vendor",
        "25.0.3-ea",
        "25.0.3-ea+4",
        "26",
        "26-ea+30",
        "26+35",
        "26.0.0.0.1",
        "26.0.1-ea+2",
        "27-ea",
        "27-ea+5",
        "27-internal-adhoc.me.jdk"
      })
  void buildsBeforeTheRepair_areGuarded(String version) {
    assertEquals(TimeUnit.MILLISECONDS.toNanos(10), longestPark(version));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "21.0.9+10-LTS",
        "24.0.2+12",
        "25.0.3",
        "25.0.3+9",
        "25.0.3+9-LTS",
        "25.0.3.0.1+1-LTS",
        "25.0.4-ea+1",
        "25.0.10",
        "25.1",
        "26.0.1",
        "26.0.1+8",
        "26.0.2",
        "27",
        "27+30",
        "27.0.1",
        "28-ea+1",
        "28",
        "125"
      })
  void otherBuilds_areNot(String version) {
    assertEquals(TimeUnit.SECONDS.toNanos(1), longestPark(version));
  }

  @Test
  void thisJdk_isOneOrTheOther() {
    assertEquals(ParkLimits.longestParkNanos(Runtime.version()), ParkLimits.LONGEST_PARK_NANOS);
    assertTrue(ParkLimits.LONGEST_PARK_NANOS > 0);
  }

  private static long longestPark(String version) {
    return ParkLimits.longestParkNanos(Runtime.Version.parse(version));
  }
}
