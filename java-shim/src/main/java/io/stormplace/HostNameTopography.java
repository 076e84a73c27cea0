package io.stormplace;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.storm.networktopography.DNSToSwitchMapping;

/**
 * Network topography for clusters whose hosts are named {@code site-number}: every site is a rack.
 *
 * <p>Set {@code storm.network.topography.plugin: io.stormplace.HostNameTopography}. Storm instantiates it in Nimbus and in
 * every worker, so the jar has to be in {@code extlib/} as well.
 */
public final class HostNameTopography implements DNSToSwitchMapping {
    private static final Pattern NUMBER_AT_END = Pattern.compile("-\\d+$");

    /**
     * Gives each host its rack.
     *
     * @param names host names; null stands for none
     * @return host name to {@code "/" + host name without its trailing -number}
     */
    @Override
    public Map<String, String> resolve(List<String> names) {
        Map<String, String> racks = new HashMap<>();
        if (names != null) {
            for (String name : names) {
                racks.put(name, name == null ? DEFAULT_RACK : "/" + NUMBER_AT_END.matcher(name).replaceFirst(""));
            }
        }
        return racks;
    }
}
