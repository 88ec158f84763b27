package org.revenantdb.chaos.power;

import org.revenantdb.chaos.disk.DiskImage;

/**
 * One state that a power cut may leave.
 *
 * @param seq the crash point: operations with a smaller place had happened
 * @param image the disk; belongs to the receiver of the state, independent of other images
 * @param losses the operations that are missing, or not whole; all others are there
 */
public record CrashState(long seq, DiskImage image, Losses losses) {}
