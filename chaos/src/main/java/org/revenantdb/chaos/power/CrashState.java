package org.revenantdb.chaos.power;

import org.revenantdb.chaos.disk.DiskImage;

/**
 * One state that a power cut may leave.
 *
 * @param seq the crash point: what has a smaller place had happened
 * @param image the disk; belongs to whoever is given the state, shares no life with another one
 * @param losses which operations are not there, or not whole; all others are
 */
public record CrashState(long seq, DiskImage image, Losses losses) {}
